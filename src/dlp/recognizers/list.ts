/** All recognizers. Of two with the same confidence for the same span, the earlier one in the list is reported. */

import { BANK } from "./bank.ts";
import { BANK_ACCOUNTS } from "./bank_accounts.ts";
import { CARDS } from "./cards.ts";
import { CRYPTO } from "./crypto.ts";
import { EMAIL } from "./email.ts";
import { IBANS } from "./iban.ts";
import { AMERICAS } from "./national/americas.ts";
import { ASIA } from "./national/asia.ts";
import { DRIVING_LICENCES } from "./national/driving_licences.ts";
import { EASTERN_EUROPE } from "./national/eastern_europe.ts";
import { GERMANY } from "./national/germany.ts";
import { NORDIC } from "./national/nordic.ts";
import { OCEANIA_AFRICA } from "./national/oceania_africa.ts";
import { PASSPORTS } from "./national/passports.ts";
import { UNITED_KINGDOM } from "./national/united_kingdom.ts";
import { US } from "./national/united_states.ts";
import { WESTERN_EUROPE } from "./national/western_europe.ts";
import { NETWORK } from "./network.ts";
import { PATIENTS } from "./patients.ts";
import { PERSON_DATA } from "./person.ts";
import { PHONE } from "./phone.ts";
import { PLACES } from "./places.ts";
import type { Recognizer } from "./recognizer.ts";
import { SECRETS } from "./secrets/secrets.ts";
import { SIM_CARDS } from "./sim_cards.ts";
import { TRAVEL_DOCUMENTS } from "./travel_documents.ts";
import { VEHICLES } from "./vehicles.ts";

export const RECOGNIZERS: readonly Recognizer[] = [
  ...EMAIL,
  ...PHONE,
  ...PLACES,
  ...CARDS,
  ...BANK,
  ...BANK_ACCOUNTS,
  ...NETWORK,
  ...SIM_CARDS,
  ...IBANS,
  ...CRYPTO,
  ...US,
  ...UNITED_KINGDOM,
  ...GERMANY,
  ...WESTERN_EUROPE,
  ...NORDIC,
  ...EASTERN_EUROPE,
  ...OCEANIA_AFRICA,
  ...ASIA,
  ...AMERICAS,
  ...PASSPORTS,
  ...DRIVING_LICENCES,
  ...TRAVEL_DOCUMENTS,
  ...PATIENTS,
  ...SECRETS,
  ...PERSON_DATA,
  ...VEHICLES,
];
