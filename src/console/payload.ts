/**
 * `GET /admin/generations/{id}/payload`: the stored request and answer, for authorized readers; each read is
 * recorded in the audit log.
 */
import { Failure } from "../exchange/failure.ts";
import type { AdministrationContext, Endpoint } from "../http/endpoint.ts";
import { endpoint } from "./operations.ts";

export const PAYLOAD: Endpoint = endpoint(
  "GET",
  "/admin/generations/{id}/payload",
  "Shows the request and the answer of a generation from the payload log. Each read access is written to the audit log.",
  "Payload",
  readPayload,
  { access: "read", parameters: [{ name: "id", in: "path", description: "The generation's id." }] },
);

async function readPayload(
  { state, principal: { role }, administration, trail, parameters: { id } }: AdministrationContext,
): Promise<unknown> {
  const log = state.kit.payloads?.log;
  if (!log) {
    throw new Failure("not_found", "The payload log is off: the configuration has no `payloads`.");
  }
  const { readers } = log.config;
  if (!(readers as readonly string[]).includes(role)) {
    const refused = new Failure(
      "permission_denied",
      `The role ${role} cannot read payloads: payloads.readers allows ${readers.join(", ") || "nobody"}.`,
    );
    await trail.failed(refused);
    throw refused;
  }
  // Recorded before the read, so that no read is unrecorded.
  await administration.payloadAsked(id);
  const found = await log.read(id).catch((thrown) => {
    throw readFailure(id, thrown);
  });
  if (found !== null) return found;
  const place = await administration.payloadPlace(id);
  throw new Failure(
    "not_found",
    `There is no payload of ${JSON.stringify(id.slice(0, 64))} here${elsewhere(place)}.`,
  );
}

function readFailure(id: string, thrown: unknown): Failure {
  const why = thrown instanceof Error ? thrown.message : "no reason is known";
  if (thrown instanceof Error && thrown.name === "UnreadablePayload") {
    return new Failure("internal_service_error", `The payload of ${id} cannot be read: ${why}.`);
  }
  return new Failure("service_unavailable", "The storage of payloads cannot be read now.", {
    operator: `the storage of payloads: ${why}`,
    cause: thrown,
  });
}

function elsewhere(place: string | null): string {
  return place === null
    ? ": it was not stored, or it has expired"
    : `: it is on ${place}, in that node's own files, unless it has expired`;
}
