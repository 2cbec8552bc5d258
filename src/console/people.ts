/** `/admin/tokens`: credentials of the administration beside the admin key, each with a role and an end of its own. */
import { STATUS_CODE } from "@std/http/status.js";
import type { Endpoint, Parameter } from "../http/endpoint.ts";
import { body, endpoint, list, PAGE } from "./operations.ts";

const TOKEN: Parameter = { name: "id", in: "path", description: "The token's id." };

export const PEOPLE: readonly Endpoint[] = [
  list(
    "/admin/tokens",
    "Lists the tokens of the administration, newest first, without their secrets.",
    "TokenList",
    ({ administration }, page) => administration.listTokens(page),
    PAGE,
    "read_people",
  ),
  endpoint(
    "POST",
    "/admin/tokens",
    "Makes a token of the administration and shows its secret, this once.",
    "TokenWithSecret",
    async ({ request, administration }) => await administration.createToken(await body(request)),
    { access: "change_people", request: "TokenInput", status: STATUS_CODE.Created },
  ),
  endpoint(
    "DELETE",
    "/admin/tokens/{id}",
    "Revokes a token of the administration: it is refused from now on, on every node.",
    "Token",
    ({ administration, parameters }) => administration.revokeToken(parameters.id),
    { access: "change_people", parameters: [TOKEN] },
  ),
];
