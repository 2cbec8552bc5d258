/** The JSON that a frame of a provider's stream holds. */
import { parse } from "../exchange/json.ts";
import type { Frame } from "./format.ts";

/**
 * Undefined when it is not JSON, or holds more than an answer may.
 * @param exact long numbers keep their digits
 */
export function frameValue({ data, value }: Frame, exact = false): unknown {
  return value !== undefined ? value : parse(data, exact);
}
