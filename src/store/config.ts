/** The section `store` of the configuration: the database for keys, records and credits. */
import { fields, isHost, matching, seconds, stringField, type Value, whole } from "../schema/fields.ts";

const ADDRESS_WORDS = '"sqlite:PATH", "sqlite::memory:" or "postgres://USER:PASSWORD@HOST/DATABASE"';
/** Values of libpq's `sslmode`. Clients would take an unknown value for the strictest or for the weakest mode. */
const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/** Values of libpq's `target_session_attrs`. The others would accept a read-only server. */
const SESSIONS = ["any", "read-write", "primary"];
/** Several hosts: commas in the authority after user and password, or in the parameters for hosts and ports. */
const SEVERAL_HOSTS =
  /^\w+:\/\/(?:[^/?]*@)?[^@/?]*(?:,|%2c)[^@/?]*(?:[/?]|$)|[?&](?:host|port)=[^&]*(?:,|%2c)/i;
const ONE_HOST = "a postgres:// address of one host, not of several with commas between: " +
  "that of a pooler, or a name that leads to the primary";

/** The error in a store address; null: none that can be found without connecting. */
export function addressTrouble(address: string): string | null {
  // SQLite would interpret a name that starts with `file:` as a URI.
  if (/^sqlite:(?!file:)[^\0]*[^\0/]$/.test(address)) return null;
  if (!/^postgres(?:ql)?:\/\/[^\s\0]+$/.test(address)) return ADDRESS_WORDS;
  if (SEVERAL_HOSTS.test(address)) return ONE_HOST;
  const url = parsed(address);
  const port = url?.searchParams.get("port") ?? null;
  if (url === null || url.port === "0" || (port !== null && !isPort(port))) {
    return "a postgres:// address with a host, and a port from 1 to 65535";
  }
  // As in libpq, the parameter `host` takes precedence.
  const named = url.searchParams.get("host");
  const host = named === null || named === "" ? decoded(url.hostname) ?? "" : named;
  if (host === "" || (!host.startsWith("/") && !isHost(host))) {
    return "a postgres:// address with the name or the IP address of a host";
  }
  if ([url.username, url.password, url.pathname].some((part) => decoded(part) === null)) {
    return "a postgres:// address in which % stands before two hexadecimal digits (%25 is % itself)";
  }
  const mode = url.searchParams.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode)) return `an sslmode of ${SSL_MODES.join(", ")}`;
  const session = url.searchParams.get("target_session_attrs");
  if (session !== null && !SESSIONS.includes(session)) {
    return `a target_session_attrs of ${SESSIONS.join(", ")}, as the gateway writes`;
  }
  return null;
}

function parsed(address: string): URL | null {
  return URL.canParse(address) ? new URL(address) : null;
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export const STORE = fields({
  url: stringField(ADDRESS_WORDS).superRefine((address, context) => {
    const message = addressTrouble(address);
    if (message !== null) context.addIssue({ code: "custom", message, input: address });
  }).prefault("sqlite:./data/sluice.db")
    .describe(
      "The database: `sqlite:PATH`, `sqlite::memory:`, or `postgres://…`, which several nodes can share. `SLUICE_STORE` overrides it. A change needs a restart.",
    ),
  journal: matching(/^[^\0]*[^\0/]$/, "a path of a file, or null").nullable().prefault("./data/node")
    .describe(
      "With PostgreSQL: path, without extension, of the journal files. A node writes to them the records that are not in the database yet. Null, or a path that is not writable: the records wait in a limited memory buffer. With SQLite, the journal is next to the database file. A change needs a restart.",
    ),
  connections: whole(3, 100).prefault(4)
    .describe(
      "With PostgreSQL: maximum number of connections of one process; one of them receives notifications of changes. The database must allow nodes × workers × this number. A change needs a restart.",
    ),
  offline_seconds: seconds(1).prefault(3600)
    .describe(
      "Time in seconds for which the keys in the store can be used after the last contact with the database. A change needs a restart.",
    ),
  retention_days: whole(1, 36_500).prefault(90)
    .describe(
      "Number of days for which the records of generations are stored. Sums by day are stored permanently. A change needs a restart.",
    ),
  pepper: matching(/^[^]{16,}$/, "a secret of at least 16 characters, or null").nullable().prefault(null)
    .describe(
      "Secret with which the hashes of the keys are computed. Null: created at the first start and stored next to the store. With a different pepper, the keys in the store are not valid. A change needs a restart.",
    ),
});

export type StoreConfig = Value<typeof STORE>;
