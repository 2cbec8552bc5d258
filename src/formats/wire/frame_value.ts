/** The JSON value of a frame. */
import { parse } from "../../exchange/json.ts";
import type { Frame } from "../format.ts";

/**
 * Undefined if it is not JSON, or exceeds the limits of an answer.
 * @param exact keep the digits of long numbers
 */
export function frameValue({ data, value }: Frame, exact = false): unknown {
  return value !== undefined ? value : parse(data, exact);
}
