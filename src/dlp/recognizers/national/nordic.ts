/**
 * Identity numbers of the Nordic countries.
 *
 * Denmark announced that check digits are no longer guaranteed, so only the date is checked, and a name is
 * required.
 *
 * Check digits as the issuing authorities publish them and as python-stdnum documents them.
 */

import { hetu, norwegian, swedish } from "./checks_eu.ts";
import { dateAt, weighted } from "../checksums.ts";
import { IDENTITY, TAX } from "./labels.ts";
import type { Recognizer } from "../recognizer.ts";
import { words } from "../scanned_view.ts";

export const NORDIC: readonly Recognizer[] = [
  {
    type: "SE_PERSONNUMMER",
    group: "NATIONAL_ID",
    numbers: [{
      forms: [
        "9{6}-9{4}=0.6",
        "9{6}+9{4}=0.6",
        "9{8}-9{4}=0.85",
        "9{8}+9{4}=0.7",
        "9{10}",
        "9{12}=0.45",
        "9{8} 9{4}",
      ],
      check: swedish,
      label: words(
        "pers(?:on)?\\.? ?(?:nummer|numret|nr)",
        "pnr",
        "personal identity",
        "samordningsnummer",
        TAX,
        IDENTITY,
      ),
      plain: 0.4,
    }],
    samples: {
      found: ["«19910924-2397»", "personnumret är «9109242397»"],
      clean: ["19910924-2398"],
    },
  },
  {
    type: "FI_PERSONAL_IDENTITY_CODE",
    group: "NATIONAL_ID",
    aliases: ["FI_HETU"],
    numbers: [{
      forms: ["9{6}-9{3}A", "9{6}-9{4}", "9{6}+9{3}A", "9{6}+9{4}"],
      free: { lengths: [11], shape: /^\d{6}[A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]$/ },
      check: hetu,
      label: words("hetu", "henkil[öo]tunnus\\w*", "personbeteckning", TAX, IDENTITY),
      plain: 0.8,
    }],
    samples: {
      found: ["«131019A3089»"],
      clean: ["131019A308A"],
    },
  },
  {
    type: "DK_CPR",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{6}-9{4}=0.5", "9{10}", "9{6} 9{4}"],
      check: (s) => dateAt(s, 4, 2, 0) && weighted(s, [4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
      label: words("cpr\\w*", "personnummer(?:et)?", TAX, IDENTITY),
      plain: 0.4,
    }, {
      forms: ["9{6}-9{4}"],
      check: (s) => dateAt(s, 4, 2, 0),
      label: words("cpr\\w*", "personnummer(?:et)?"),
      plain: 0.3,
      alone: 0.3,
      labelled: 0.8,
    }, {
      forms: ["9{10}"],
      check: (s) => dateAt(s, 4, 2, 0),
      label: words("cpr\\w*", "personnummer(?:et)?"),
      plain: 0,
      alone: 0,
      labelled: 0.7,
    }],
    samples: {
      found: [
        "«0101110117»",
        "Personnummer: «220852-3717»",
        "CPR-nr. «2208523717»",
        '{"personnummer":"«0111914121»"}',
        "personnummeret er «0111914121»",
      ],
      clean: [
        "Personnummer: 460325-3743\nTelefon: 070-123 45 67",
        "0101110118",
        "CPR-nr. 3208523717",
      ],
    },
  },
  {
    type: "NO_FODSELSNUMMER",
    group: "NATIONAL_ID",
    numbers: [{
      forms: ["9{11}", "9{6} 9{5}=0.8"],
      check: norwegian,
      label: words("f[øo]dsels(?:nummer(?:et)?|nr)", "personnummer(?:et)?", "f\\.? ?nr", TAX, IDENTITY),
      plain: 0.45,
    }],
    samples: {
      found: ["«02077448074»", "F.nr. «02077448074»", "fødselsnummeret mitt er «02077448074»"],
      clean: ["02077448075"],
    },
  },
];
