/** Patient numbers of hospitals and practices. They have no common format, so a name is required. */

import type { Recognizer } from "./recognizer.ts";
import { words } from "./scanned_view.ts";

const DIGITS = [6, 7, 8, 9, 10, 11, 12].map((n) => `9{${n}}`);

export const PATIENTS: readonly Recognizer[] = [
  {
    type: "MEDICAL_RECORD_NUMBER",
    group: "NATIONAL_ID",
    aliases: ["MRN", "US_MEDICAL_RECORD_NUMBER", "PATIENT_ID"],
    numbers: [{
      forms: [
        ...DIGITS,
        ...["A", "AA", "AAA"].flatMap((letters) =>
          [5, 6, 7, 8, 9, 10].flatMap((n) => [`${letters}9{${n}}`, `${letters}-9{${n}}`])
        ),
        "99-99-99",
        "9{3}-9{3}-9{3}",
        "9{3}-9{3}",
        "9{4}-9{4}",
        "9{3}-99-9{4}",
        "9{2}-9{6}",
      ],
      label: words(
        "mrn",
        "medical[ _-]*rec(?:ord)?s?(?:[ _-]*(?:no|num(?:ber)?|id|#))?",
        "patient[ _-]*(?:id|no|num(?:ber)?|identifier|record)",
        "chart[ _-]*(?:no|num(?:ber)?|#)",
        "hospital[ _-]*(?:no|num(?:ber)?)",
        "patienten(?:nummer|nr|id)",
        "krankenakte\\w*",
        "dossier m[ée]dical",
        "historia cl[ií]nica",
        "cartella clinica",
        "prontu[aá]rio(?: m[ée]dico)?",
        "pati[ëe]ntnummer",
        "numer pacjenta",
      ),
      plain: 0,
      alone: 0,
      labelled: 0.85,
    }],
    samples: {
      found: ["MRN: «00482913»", "medical record number «AB-482913»", "Patientennummer: «482913775»"],
      clean: ["order 00482913", "MRN: pending", "patient since 2019"],
    },
  },
];
