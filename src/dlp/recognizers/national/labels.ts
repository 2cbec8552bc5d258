/** Words that name several kinds of numbers, in the languages of the supported countries. */

export const TAX = "tax(?:payer)?[ _-]*(?:id(?:entification)?|no|num(?:ber)?|code|file|ref(?:erence)?)|tin|" +
  "vat(?:[ _-]*(?:id|no|num(?:ber)?|code|reg\\w*))?";

export const IDENTITY = "national[ _-]*(?:id|ident\\w+|number)|ident(?:ity|ification)|" +
  "id[ _-]*(?:card|no|num(?:ber)?|code)|personal[ _-]*(?:id|code|no|num(?:ber)?|ident\\w+)|citizen|resident";

export const LICENCE =
  "driv(?:er(?:[' _]?s)?|ing)[ _-]*(?:licen[sc]e|permit)(?:[ _-]*(?:no|num(?:ber)?|id))?|dl[ _-]*(?:no|num(?:ber)?|#)";

export const PASSPORT =
  "passports?(?:[ _-]*(?:no|num(?:ber)?|id))?|passeport|pasaporte|passaporte?o?|reisepass\\w*|" +
  "paspoort(?:nummer|nr)?|pass-?(?:nummer|nr)|paszport\\w*|여권|護照|护照|パスポ[ー-]ト|паспорт";
