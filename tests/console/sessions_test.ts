/** `/admin/sessions`: an owner sees who is signed in, and ends one session or all of a person. */
import { assert, assertEquals } from "@std/assert";
import { admin, withPeople } from "./people.ts";
import { ADMIN, cookieOf, signedIn, withConsole } from "./rig.ts";
import { eventually } from "../support/time.ts";

interface Row {
  id: string;
  name: string;
  role: string;
  member: string | null;
  signed_in_with: string;
  own: boolean;
}

Deno.test("an owner lists the sessions and ends one, which is refused from then on and told in the audit log", () =>
  withPeople(async ({ ask, member }) => {
    const ada = await member("ada");
    const phone = await member("ada");
    const bob = await member("bob");
    const own = await signedIn(ask);
    const owner = { cookie: own.cookie, "x-svc-csrf": own.csrf };
    const list = async (query = "", headers: Record<string, string> = owner): Promise<Row[]> =>
      (await ask("GET", `/admin/sessions${query}`, { headers })).json.data;
    const rows = await list();
    assertEquals(rows.map(({ name, role, signed_in_with, own }) => [name, role, signed_in_with, own]), [
      ["admin_key", "owner", "admin_key", true],
      ["bob", "member", "oidc", false],
      ["ada", "member", "oidc", false],
      ["ada", "member", "oidc", false],
    ]);
    assert(!JSON.stringify(rows).includes(ada.cookie.split("=")[1]), "an id is no cookie");
    assertEquals((await list("?limit=1")).length, 1);
    const person = rows[2].member!;
    assertEquals((await list(`?member=${encodeURIComponent(person)}`)).length, 2);

    // The one of the phone came last.
    const ended = await ask("DELETE", `/admin/sessions/${rows[2].id}`, { headers: owner });
    assertEquals([ended.status, ended.json.id], [200, rows[2].id]);
    const works = async (headers: Record<string, string>) =>
      (await ask("GET", "/admin/keys", { headers })).status === 200;
    assertEquals([await works(phone), await works(ada), await works(bob)], [false, true, true]);
    assertEquals((await list()).length, 3);

    const rest = await ask("DELETE", `/admin/sessions?member=${encodeURIComponent(person)}`, {
      headers: owner,
    });
    assertEquals(rest.json.data.map(({ id }: Row) => id), [rows[3].id]);
    assertEquals([await works(ada), await works(bob)], [false, true]);
    const { json: { data: [latest, before] } } = await ask("GET", "/admin/audit?kind=admin", {
      headers: owner,
    });
    for (
      const [entry, route] of [[latest, "DELETE /admin/sessions"], [before, "DELETE /admin/sessions/{id}"]]
    ) {
      assertEquals([entry.action, entry.route, entry.fields.of, entry.fields.member, entry.by, entry.role], [
        "session.ended",
        route,
        "ada",
        person,
        "session",
        "owner",
      ]);
    }
    assertEquals((await ask("DELETE", "/admin/sessions/ses_nobody", { headers: admin })).status, 404);
    assertEquals(
      (await ask("DELETE", "/admin/sessions", { headers: admin })).status,
      422,
      "of whom is not said",
    );
    // Without the header that the page knows, the cookie alone ends nobody's session.
    const forged = await ask("DELETE", `/admin/sessions/${rows[1].id}`, { headers: { cookie: own.cookie } });
    assertEquals([forged.status, await works(bob)], [403, true]);
  }));

Deno.test("only who may see who administers lists sessions, and only an owner ends them", () =>
  withPeople(async ({ ask, member }) => {
    const bob = await member("bob");
    const [{ id }] = (await ask("GET", "/admin/sessions", { headers: admin })).json.data;
    const statuses: Record<string, [number, number, number]> = {};
    for (const role of ["owner", "operator", "auditor", "member"]) {
      const headers = role === "member" ? bob : {
        authorization: `Bearer ${
          (await ask("POST", "/admin/tokens", { headers: admin, body: { name: role, role } })).json.secret
        }`,
      };
      const listed = await ask("GET", "/admin/sessions", { headers });
      // The owner last would end the member's session before the member is tried.
      const all = await ask("DELETE", "/admin/sessions?member=nobody", { headers });
      const one = role === "owner" ? 200 : (await ask("DELETE", `/admin/sessions/${id}`, { headers })).status;
      statuses[role] = [listed.status, all.status, one];
    }
    assertEquals(statuses, {
      owner: [200, 200, 200],
      operator: [403, 403, 403],
      auditor: [200, 403, 403],
      member: [403, 403, 403],
    });
  }));

Deno.test("a session of a token names it, ends are those of its last use, and signing out takes it off the list", async () => {
  let now = Date.UTC(2026, 0, 15, 12);
  await withConsole(async (ask) => {
    const { json: { secret } } = await ask("POST", "/admin/tokens", {
      headers: admin,
      body: { name: "ops", role: "operator" },
    });
    const made = await ask("POST", "/console/session", { body: { token: secret } });
    const list = async () => (await ask("GET", "/admin/sessions", { headers: admin })).json.data;
    const [first] = await list();
    assertEquals([first.name, first.signed_in_with, first.member], ["ops", "token", null]);
    assertEquals(Date.parse(first.ends) - now, 3_600_000);
    now += 1_800_000;
    const used = await ask("GET", "/admin/keys", { headers: { cookie: cookieOf(made) } });
    const renewed = cookieOf(used);
    // That it was used is noted behind the answer.
    await eventually(async () => Date.parse((await list())[0].ends) - now === 3_600_000);
    now += 3_590_000;
    assertEquals((await list()).length, 1);
    await ask("DELETE", "/console/session", { headers: { cookie: renewed, "x-svc-csrf": made.json.csrf } });
    assertEquals(await list(), []);
    await ask("POST", "/console/session", { body: { admin_key: ADMIN } });
    assertEquals((await list()).length, 1);
    now += 3_600_001;
    assertEquals(await list(), [], "one that nobody uses has ended");
  }, { now: () => now });
});
