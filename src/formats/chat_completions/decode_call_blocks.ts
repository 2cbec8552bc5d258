/** Decodes tool calls in a provider's deltas. */
import { isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { calledName } from "../called_name.ts";
import {
  type AnswerState,
  closeReasoning,
  closeText,
  hold,
  isWhole,
  type OpenCall,
  type OpenChoice,
  readSigned,
} from "./decode_state.ts";
import { unknownOfCall } from "./decode_unknown.ts";
import { replayProof, signedFields } from "./reasoning.ts";

/** Adds a delta of a call, which starts when its name and id are known. One without an id starts when it is complete. */
export function readCall(state: AnswerState, choice: OpenChoice, wire: Loose, out: Part[]): void {
  const custom = isObject(wire.custom) && !isObject(wire.function);
  const body = object(custom ? wire.custom : wire.function);
  const id = string(wire.id) ?? "";
  const name = calledName(string(body.name) ?? "");
  const given = custom ? body.input : body.arguments;
  const piece = typeof given === "string" ? given : isObject(given) ? JSON.stringify(given) : "";
  const found = findCall(choice, wire.index, id, name);
  // Nothing can follow whole arguments: they are told once more, or belong to another call of the same index.
  const again = found !== undefined && name !== "" && /^\s*\{/.test(piece) && isWhole(found);
  const told = again && name === found.name &&
    ((id !== "" && id === found.id) || piece === found.pieces.join(""));
  if (told) return;
  const call = found !== undefined && !again
    ? found
    : addCall(state, choice, wire.index, custom ? "custom" : "function", out);
  if (call.ended) return;
  // Later deltas may repeat the id or the name as "".
  if (call.id === "" && id !== "") {
    call.id = id;
    if (!choice.byId.has(id)) choice.byId.set(id, call);
  }
  if (call.name === "") call.name = name;
  if (piece !== "") {
    hold(state, piece);
    call.pieces.push(piece);
  }
  const signed = signedFields(wire);
  if (!call.started) {
    const unknown = unknownOfCall(wire);
    if (unknown) call.unknown = { ...call.unknown, ...unknown };
    if (signed) call.signed = signed;
    if (call.name !== "" && call.id !== "") startCall(state, choice, call, out);
    return;
  }
  if (signed) readSigned(state, choice, signed, call.id, out);
  if (piece !== "") out.push({ type: "call-delta", block: call.block, text: piece });
}

/**
 * The call that a delta continues. Without an index, a new id with a name, or else a name, starts a new call, and so does
 * a name or id after complete arguments; what a call does not have yet continues it. With an index, another id after
 * complete arguments does: some providers number every call 0.
 */
function findCall(choice: OpenChoice, index: unknown, id: string, name: string): OpenCall | undefined {
  const key = keyOf(index);
  if (key === undefined) {
    const { current } = choice;
    if (id === "") return name === "" || current?.name === "" ? current : undefined;
    const call = choice.byId.get(id);
    if (call) return name !== "" && isWhole(call) ? undefined : call;
    const isOf = current && name === "" && current.name !== "" && (current.id === "" || !isWhole(current));
    return isOf ? current : undefined;
  }
  const call = choice.byKey.get(key);
  if (!call || id === "" || name === "" || call.id === "" || call.id === id || call.idVaries) return call;
  if (isWhole(call)) return undefined;
  call.idVaries = true;
  return call;
}

function keyOf(index: unknown): number | string | undefined {
  return typeof index === "number" || typeof index === "string" ? index : undefined;
}

function addCall(
  state: AnswerState,
  choice: OpenChoice,
  index: unknown,
  kind: "function" | "custom",
  out: Part[],
): OpenCall {
  closeReasoning(choice, out);
  closeText(choice, out);
  // A complete call ends here, so that callers with one open block at a time can stream the next one.
  const { current } = choice;
  if (current && current.name !== "" && isWhole(current)) {
    if (!current.started) startCall(state, choice, current, out);
    endCall(current, out);
  }
  const call: OpenCall = {
    block: state.nextBlock++,
    place: choice.calls.length,
    id: "",
    name: "",
    kind,
    started: false,
    ended: false,
    idVaries: false,
    pieces: [],
  };
  choice.calls.push(call);
  const key = keyOf(index);
  if (key !== undefined) choice.byKey.set(key, call);
  choice.current = call;
  return call;
}

/** Starts a call, with a generated id if the provider gave none or a duplicate. */
export function startCall(state: AnswerState, choice: OpenChoice, call: OpenCall, out: Part[]): void {
  call.started = true;
  // Another call of the answer may have the same id.
  if (call.id === "" || choice.byId.get(call.id) !== call) {
    call.id = makeId(state, choice, call);
    if (!choice.byId.has(call.id)) choice.byId.set(call.id, call);
  }
  out.push({
    type: "call-start",
    block: call.block,
    choice: choice.index,
    id: call.id,
    name: call.name,
    kind: call.kind,
    ...(call.unknown && { extra: { format: "chat_completions", fields: call.unknown } }),
    ...(call.signed && { proof: replayProof({ fields: call.signed }, call.id) }),
  });
  const text = call.pieces.join("");
  if (text !== "") out.push({ type: "call-delta", block: call.block, text });
}

/** An id for a call without one, unique among all answers, so that histories remain unambiguous. */
function makeId(state: AnswerState, choice: OpenChoice, call: OpenCall): string {
  const answer = state.id.replace(/[^a-zA-Z0-9]/g, "").slice(-20);
  const stem = answer || call.name.replace(/[^\w-]/g, "_").slice(0, 20);
  return choice.index > 0 ? `call_${stem}_${choice.index}_${call.place}` : `call_${stem}_${call.place}`;
}

/** Ends a call that was started. */
export function endCall(call: OpenCall, out: Part[]): void {
  if (call.ended || !call.started) return;
  call.ended = true;
  call.pieces = [];
  out.push({ type: "call-end", block: call.block });
}
