import { assert, assertEquals } from "@std/assert";
import { RECOGNIZERS } from "../../../src/dlp/recognizers/list.ts";
import { tokenTable } from "../../../src/dlp/recognizers/tokens.ts";
import { detector } from "../../../src/dlp/scan.ts";
import { drawing } from "../drawn_values.ts";

const FORMS = tokenTable(RECOGNIZERS).byPair.flatMap((forms) => forms ?? []);

Deno.test("tokenTable() knows some two hundred kinds, all of secrets", () => {
  assert(FORMS.length >= 200, String(FORMS.length));
  for (const { type, tokens } of RECOGNIZERS.filter(({ group }) => group !== "SECRET")) {
    assertEquals(tokens, undefined, type);
  }
});

Deno.test("tokenTable() patterns hold no abbreviation that was not written out", () => {
  for (const { prefix, pattern } of FORMS) assertEquals(/[AWH]\{/.test(pattern.source), false, prefix);
});

Deno.test("tokenTable() patterns match a whole token and nothing longer", () => {
  const hex = "3f1b495289a4592257386d3f8fa22818";
  const tokens = [
    `access-production-${hex.slice(0, 8)}-1111-2222-3333-${hex.slice(0, 12)}`,
    `lsv2_pt_${hex}_${hex.slice(0, 10)}`,
    `re_A1b2C3d4_${hex.slice(0, 24)}`,
    `1000.${hex}.${hex}`,
    `xkeysib-${hex}${hex}-${hex.slice(0, 16)}`,
    `access_token$production$${hex.slice(0, 16)}$${hex}`,
  ];
  for (const token of tokens) {
    const matching = (text: string) =>
      FORMS.some(({ prefix, pattern }) => {
        pattern.lastIndex = 0;
        return text.startsWith(prefix) && pattern.exec(text)?.[0] === token;
      });
    assert(matching(token), token);
    assert(matching(`${token}" `), token);
    assert(!matching(`${token}9`), token);
  }
});

Deno.test("scan() finds tokens of issuers by their beginnings, with a body drawn afresh", () => {
  const draw = drawing(7);
  const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const alphabets: Record<string, string> = {
    a: upper + upper.toLowerCase() + "0123456789",
    u: upper + "0123456789",
    l: upper.toLowerCase() + "0123456789",
    h: "0123456789abcdef",
    b: "abcdefghijklmnopqrstuvwxyz234567",
  };
  const run = (kind: string, n: number) =>
    Array.from({ length: n }, () => alphabets[kind][draw(alphabets[kind].length)]).join("");
  // Beginnings and what stands behind them: the alphabet's letter and how many.
  const forms = [
    "AIK_CI_ a32, AQ.Ab8RN6 a44, ATAT a180, AstraCS: a24, BSA a27, CCDB1_ a22 _ a40, CCIPRJ_ a22 _ h40, EXO a26",
    "apk_ a88, bkaa_ a75, bkua_ l53, cfk_ a48, cmVmd a59, cnvca a51, cog_ b52, configcat-sdk-1/ a22 / a22",
    "csa_ h30 a6, ddp_ a36, dvc_server_ a40, essu_ a80, ion_ a42, lip_ a24, llx- a48, m0- a40",
    "mercury_production_ rma_ a43 _yrucrem, mdb_sa_id_ h24, mlsn. a64, napi_ a64, nfo_ a36, nyk_ a67",
    "os_v2_app_ b103, api_live. a40, packagist_ort_ h68, persona_production_ a40, phs_ a43, pina_ a90",
    "polar_oat_ a43, ramp_sec_ a48, rootly_ h64, rpa_ u40 a6, samsara_api_ a30, sgp_ a64, signkey-prod- h64",
    "sk_car_ a22, snyk_uat. h8 . a60 . a43, SWMKEY-1- a43, tr_prod_ a24, ucat_ a26, vtwn_ a32",
    "waka_ h8 - h4 - h4 - h4 - h12, xapp-12- u11 - 1234567890123 - h64, xnd_production_ a60, zpka_ l32 _ h8",
    "cr- h58, flp_ a48, live_ h32, live_auth_ h32, bb_pr_ h30, salad_cloud_org_ a30, 3MVG9 a85, VF.WS. h24 . a16",
    "shltm_ a40, ddw_ a36, pk. h32, mergify_application_key_ a76, X-Amz-Security-Token= a300, quiknode.pro/ h40",
    "feishu.cn/open-apis/bot/v2/hook/ h36, maker.ifttt.com/trigger/x/with/key/ a30, thingsboard.cloud/api/v1/ l20",
    "hooks.airtable.com/workflows/v1/genericWebhook/ a17 / a17 / a17, kagi.com/search?token= a11 . a43",
    "calendar.google.com/calendar/ical/jo%40corp.example/private- h32, tines.com/webhook/ l32 / l32",
  ].join(", ").split(", ");
  const scan = detector(new Set(RECOGNIZERS.filter((one) => one.group === "SECRET").map((one) => one.type)));
  for (const form of forms) {
    const [beginning, ...parts] = form.split(" ");
    const token = beginning +
      parts.map((part) => /^[aulhb]\d+$/.test(part) ? run(part[0], Number(part.slice(1))) : part).join("");
    const text = `first line\n  - ${token}\nlast line`;
    const found = scan.scan(text).map(({ start, end }) => text.slice(start, end));
    assertEquals(found, [token], form);
  }
});
