/** The field `admin_key` of the configuration: the credential of the administration API, the console and the metrics. */
import { matching } from "../schema/fields.ts";

export const ADMIN_KEY = matching(/^[!-~]+$/, "printable ASCII without spaces or line breaks, or null")
  .nullable();
