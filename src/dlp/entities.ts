/**
 * The vocabulary of entity types: names, groups, aliases, categories, and what is scanned for when nobody says.
 *
 * Names are those of Presidio (upper snake case, two-letter country prefix); names that other products use for
 * the same thing are accepted as aliases. Assumes that callers pass names as they were sent, in any letter case.
 */

/** What a finding is filed under in a report. */
export type Category = "pii" | "financial" | "national_id" | "secret";

const CONTACT = "EMAIL_ADDRESS PHONE_NUMBER URL DOMAIN_NAME STREET_ADDRESS POSTAL_CODE";
const NETWORK = "IP_ADDRESS MAC_ADDRESS IMEI";
const FINANCIAL = "CREDIT_CARD CVV IBAN_CODE SWIFT_CODE US_BANK_NUMBER ABA_ROUTING_NUMBER CRYPTO";
const NATIONAL_ID = "US_SSN US_ITIN US_EIN US_PASSPORT US_DRIVER_LICENSE US_MBI US_NPI MEDICAL_LICENSE " +
  "UK_NINO UK_NHS UK_UTR UK_PASSPORT UK_DRIVING_LICENCE IE_PPS " +
  "DE_TAX_ID DE_SOCIAL_SECURITY DE_ID_CARD DE_PASSPORT DE_HEALTH_INSURANCE DE_VAT_ID FR_NIR ES_NIF ES_NIE " +
  "ES_CIF IT_FISCAL_CODE IT_VAT_CODE NL_BSN BE_NN PL_PESEL PL_NIP PT_NIF SE_PERSONNUMMER " +
  "FI_PERSONAL_IDENTITY_CODE DK_CPR NO_FODSELSNUMMER CH_AHV RO_CNP BG_EGN CZ_RC HR_OIB EE_ISIKUKOOD " +
  "LV_PERSONAL_CODE " +
  "CA_SIN AU_TFN AU_ABN AU_ACN AU_MEDICARE NZ_IRD IN_AADHAAR IN_PAN IN_GSTIN IN_VOTER IN_PASSPORT " +
  "SG_NRIC_FIN SG_UEN KR_RRN KR_BRN KR_PASSPORT CN_RESIDENT_ID TW_ID HK_ID TH_TNIN MY_NRIC TR_NATIONAL_ID " +
  "IL_ID ZA_ID_NUMBER BR_CPF BR_CNPJ MX_CURP MX_RFC AR_CUIT CL_RUT RU_INN RU_SNILS";
const SECRET =
  "AWS_ACCESS_KEY AWS_SECRET_KEY GITHUB_TOKEN GITLAB_TOKEN SLACK_TOKEN STRIPE_KEY GOOGLE_API_KEY AZURE_KEY " +
  "OPENAI_API_KEY ANTHROPIC_API_KEY HUGGINGFACE_TOKEN NPM_TOKEN PYPI_TOKEN SENDGRID_API_KEY TWILIO_KEY " +
  "TELEGRAM_BOT_TOKEN DISCORD_TOKEN PRIVATE_KEY JWT DATABASE_CONNECTION_STRING BASIC_AUTH PASSWORD API_KEY " +
  "GENERIC_SECRET";
const PERSON_DATA = "PERSON DATE_OF_BIRTH AGE ORGANIZATION LOCATION";

/** Group names stand for all their members; each is also accepted where a type is. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  CONTACT: CONTACT.split(" "),
  NETWORK: NETWORK.split(" "),
  FINANCIAL: FINANCIAL.split(" "),
  NATIONAL_ID: NATIONAL_ID.split(" "),
  SECRET: SECRET.split(" "),
  PERSON_DATA: PERSON_DATA.split(" "),
};

/** Group name spellings of other products, and country groups, which follow from the prefixes. */
const GROUP_ALIASES: Readonly<Record<string, readonly string[]>> = {
  PII: [...GROUPS.CONTACT, ...GROUPS.NETWORK, ...GROUPS.PERSON_DATA],
  SECRETS: GROUPS.SECRET,
  CREDENTIALS: GROUPS.SECRET,
  NATIONAL_IDS: GROUPS.NATIONAL_ID,
  GOVERNMENT_ID: GROUPS.NATIONAL_ID,
};

/** Other names of the same thing, as Presidio's variants, Google, Amazon, Microsoft and common tools spell them. */
const ALIASES: Readonly<Record<string, string>> = {
  EMAIL: "EMAIL_ADDRESS",
  PHONE: "PHONE_NUMBER",
  TR_PHONE_NUMBER: "PHONE_NUMBER",
  PH_MOBILE_NUMBER: "PHONE_NUMBER",
  US_ZIP_CODE: "POSTAL_CODE",
  ZIP_CODE: "POSTAL_CODE",
  UK_POSTCODE: "POSTAL_CODE",
  ADDRESS: "STREET_ADDRESS",
  IP: "IP_ADDRESS",
  MAC: "MAC_ADDRESS",
  IMEI_HARDWARE_ID: "IMEI",
  CREDIT_CARD_NUMBER: "CREDIT_CARD",
  CREDIT_DEBIT_NUMBER: "CREDIT_CARD",
  CREDIT_DEBIT_CVV: "CVV",
  IBAN: "IBAN_CODE",
  INTERNATIONAL_BANK_ACCOUNT_NUMBER: "IBAN_CODE",
  SWIFT: "SWIFT_CODE",
  BIC_SWIFT: "SWIFT_CODE",
  US_BANK_ACCOUNT: "US_BANK_NUMBER",
  US_BANK_ACCOUNT_NUMBER: "US_BANK_NUMBER",
  BANK_ACCOUNT_NUMBER: "US_BANK_NUMBER",
  US_BANK_ROUTING: "ABA_ROUTING_NUMBER",
  US_BANK_ROUTING_MICR: "ABA_ROUTING_NUMBER",
  BANK_ROUTING: "ABA_ROUTING_NUMBER",
  BITCOIN_ADDRESS: "CRYPTO",
  ETHEREUM_ADDRESS: "CRYPTO",
  CRYPTO_ETH: "CRYPTO",
  SSN: "US_SSN",
  US_SOCIAL_SECURITY_NUMBER: "US_SSN",
  US_INDIVIDUAL_TAX_IDENTIFICATION_NUMBER: "US_ITIN",
  US_EMPLOYER_IDENTIFICATION_NUMBER: "US_EIN",
  US_DRIVERS_LICENSE: "US_DRIVER_LICENSE",
  DRIVER_ID: "US_DRIVER_LICENSE",
  US_DEA_NUMBER: "MEDICAL_LICENSE",
  UK_TRN: "UK_NINO",
  UK_NATIONAL_INSURANCE_NUMBER: "UK_NINO",
  UK_DRIVER_LICENSE: "UK_DRIVING_LICENCE",
  UK_DRIVING_LICENSE: "UK_DRIVING_LICENCE",
  UK_NATIONAL_HEALTH_SERVICE_NUMBER: "UK_NHS",
  UK_UNIQUE_TAXPAYER_REFERENCE_NUMBER: "UK_UTR",
  DE_VAT: "DE_VAT_ID",
  DE_TAX_IDENTIFICATION_NUMBER: "DE_TAX_ID",
  IT_VAT: "IT_VAT_CODE",
  CH_SSN: "CH_AHV",
  CA_SOCIAL_INSURANCE_NUMBER: "CA_SIN",
  SG_FIN: "SG_NRIC_FIN",
  IN_AADHAAR_NUMBER: "IN_AADHAAR",
  IN_PERMANENT_ACCOUNT_NUMBER: "IN_PAN",
  FI_HETU: "FI_PERSONAL_IDENTITY_CODE",
  DATE_OF_BIRTH_DOB: "DATE_OF_BIRTH",
  DOB: "DATE_OF_BIRTH",
  NAME: "PERSON",
  PERSON_NAME: "PERSON",
  AWS_ACCESS_KEY_ID: "AWS_ACCESS_KEY",
  AWS_ACCESS_TOKEN: "AWS_ACCESS_KEY",
  AWS_SECRET_ACCESS_KEY: "AWS_SECRET_KEY",
  GITHUB_PAT: "GITHUB_TOKEN",
  GITLAB_PAT: "GITLAB_TOKEN",
  STRIPE_ACCESS_TOKEN: "STRIPE_KEY",
  GCP_API_KEY: "GOOGLE_API_KEY",
  JSON_WEB_TOKEN: "JWT",
  BASIC_AUTH_HEADER: "BASIC_AUTH",
  ENCRYPTION_KEY: "PRIVATE_KEY",
  GENERIC_API_KEY: "GENERIC_SECRET",
};

const CATEGORY = new Map<string, Category>();
for (const [group, names] of Object.entries(GROUPS)) {
  const category: Category = group === "FINANCIAL"
    ? "financial"
    : group === "NATIONAL_ID"
    ? "national_id"
    : group === "SECRET"
    ? "secret"
    : "pii";
  for (const name of names) CATEGORY.set(name, category);
}

/** What is looked for when a policy names nothing. */
export const DEFAULT_TYPES: ReadonlySet<string> = new Set([
  ...GROUPS.SECRET,
  ...GROUPS.FINANCIAL,
  "EMAIL_ADDRESS",
  "PHONE_NUMBER",
  ...GROUPS.NATIONAL_ID,
]);

/** Every name that a request may use, for the message that refuses one it may not. */
export const ALL_ENTITY_NAMES: readonly string[] = [
  ...new Set([
    ...CATEGORY.keys(),
    ...Object.keys(GROUPS),
    ...Object.keys(GROUP_ALIASES),
    ...Object.keys(ALIASES),
  ]),
].sort();

/** The category that findings of a type are filed under. */
export function categoryOf(type: string): Category {
  return CATEGORY.get(type) ?? "pii";
}

/** Names, groups and aliases become types; an absent list means the default set. Unknown names are handed back. */
export function resolveEntityTypes(
  names: readonly string[] | undefined,
): { types: Set<string>; unknown: string[] } {
  if (names === undefined) return { types: new Set(DEFAULT_TYPES), unknown: [] };
  const types = new Set<string>();
  const unknown: string[] = [];
  for (const given of names) {
    const name = given.trim().toUpperCase().replace(/[\s-]+/g, "_");
    const group = Object.hasOwn(GROUPS, name)
      ? GROUPS[name]
      : Object.hasOwn(GROUP_ALIASES, name)
      ? GROUP_ALIASES[name]
      : undefined;
    if (CATEGORY.has(name)) types.add(name);
    else if (Object.hasOwn(ALIASES, name)) types.add(ALIASES[name]);
    else if (group) {
      for (const member of group) types.add(member);
    } else unknown.push(given);
  }
  return { types, unknown };
}
