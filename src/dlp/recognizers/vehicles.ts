/** Vehicle identification numbers. Sources: ISO 3779, and 49 CFR 565 for the check digit of North America. */

import { digit } from "./checksums.ts";
import type { Recognizer } from "./recognizer.ts";
import { words } from "./scanned_view.ts";

const WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
/** Values of letters; I, O and Q are not used. */
const LETTERS: Readonly<Record<string, number>> = Object.fromEntries(
  ["AJ", "BKS", "CLT", "DMU", "ENV", "FW", "GPX", "HY", "RZ"].flatMap((letters, i) =>
    [...letters].map((letter) => [letter, letter === "R" ? 9 : i + 1])
  ),
);

function vin(s: string): boolean {
  let sum = 0;
  for (let i = 0; i < 17; i++) sum += (LETTERS[s[i]] ?? digit(s, i)) * WEIGHTS[i];
  return s[8] === (sum % 11 === 10 ? "X" : String(sum % 11));
}

const SHAPE = /^(?=.*[A-Z].*[A-Z])(?=(?:.*\d){5})[A-HJ-NPR-Z1-9][A-HJ-NPR-Z0-9]{12}(?:[A-HJ-NPR-Z0-9]\d{3})$/;
const LABEL = words(
  "vin(?:s|[ _-]*(?:no|num(?:ber)?|code))?",
  "vehicle[ _-]*id\\w*(?:[ _-]*(?:no|number))?",
  "chassis(?:[ _-]*(?:no|num(?:ber)?))?",
  "fahrgestellnummer",
  "fin(?:-nummer)?",
  "fahrzeug\\w*",
  "num[ée]ro de (?:s[ée]rie|ch[âa]ssis)",
  "n[úu]mero de (?:bastidor|chasis|chassi)",
  "telaio",
);

export const VEHICLES: readonly Recognizer[] = [
  {
    type: "VIN",
    group: "PERSON_DATA",
    aliases: ["VEHICLE_IDENTIFICATION_NUMBER", "US_VEHICLE_IDENTIFICATION_NUMBER", "VEHICLE_VIN"],
    numbers: [{
      forms: [],
      free: { lengths: [17], shape: SHAPE },
      check: vin,
      label: LABEL,
      plain: 0.7,
      anyCase: false,
    }, {
      // In Europe and most of Asia there is no check digit; in North America and China there is.
      forms: [],
      free: { lengths: [17], shape: /^[A-HJKM-NPR-Z6-9](?=.*\d)[A-HJ-NPR-Z0-9]{16}$/ },
      label: LABEL,
      plain: 0,
      alone: 0,
      labelled: 0.75,
    }],
    samples: {
      found: [
        "VIN «1HGCM82633A004352»",
        "sold «1M8GDM9AXKP042788» today",
        "Fahrgestellnummer: «WVWZZZ1JZXW000001»",
      ],
      clean: ["VIN 1HGCM82633A004353", "part WVWZZZ1JZXW000001", "VIN 1HGCM82633O004352"],
    },
  },
];
