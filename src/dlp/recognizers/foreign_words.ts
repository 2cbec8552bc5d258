/**
 * Words for passwords and card security codes with non-ASCII letters. The walk has no triggers for these
 * letters, so a text is searched for the words once for all recognizers, and only if it contains one of a few
 * letters.
 */

import { asciiBytes } from "../ascii.ts";
import type { ForeignWords, ScannedView } from "./scanned_view.ts";

export const FOREIGN_PASSWORDS =
  "has[lł]o|[sş]ifre|contrase[nñ]a|пароль|парола|лозинка|密码|密碼|口令|パスワ[ー-]ド|暗証番号|비밀번호|패스워드|" +
  "암호|비번|κωδικός(?: πρόσβασης)?|συνθηματικό|كلمة (?:ال)?(?:مرور|سر)|الرقم السري|رمز عبور|گذرواژه|סיסמ[הא]|पासवर्ड|कूटशब्द|รหัสผ่าน|mật khẩu";
export const FOREIGN_CODES =
  "安全[码碼]|セキュリティ(?:[ー-])?(?:コ[ー-]ド|番号)|보안 ?코드|код (?:безопасности|безпеки|проверки подлинности)|kod zabezpieczający|" +
  "κωδικός ασφαλείας|رمز الأمان|קוד אבטחה|सुरक्षा कोड|รหัสความปลอดภัย|mã bảo mật";
const EITHER = new RegExp(`${FOREIGN_CODES}|(${FOREIGN_PASSWORDS})`, "gi");
/** Each of the words contains one of these letters. */
const LETTER = /[łŁşŞñÑпПлЛ密口パ暗비패암κΚσΣكرگסपकรậẬ安セ보коדקसảẢąĄ]/;

const NONE: ForeignWords = { passwords: [], codes: [] };

/** Positions of such words in the view's text; searched once. */
export function foreignWords(view: ScannedView): ForeignWords {
  return view.surroundings.foreign ??= lookedFor(view.text);
}

function lookedFor(text: string): ForeignWords {
  if (asciiBytes(text) !== null || !LETTER.test(text)) return NONE;
  const passwords: number[] = [];
  const codes: number[] = [];
  for (const match of text.matchAll(EITHER)) (match[1] === undefined ? codes : passwords).push(match.index);
  return { passwords, codes };
}
