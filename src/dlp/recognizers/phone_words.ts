/** Words that name telephone numbers, by language, and numbers of something else. */

import { words } from "./scanned_view.ts";

export const PHONE_WORDS = words(
  "(?:tele)?phones?(?:[ _-]*(?:no|num(?:ber)?|#))?",
  "tel(?:[ _-]*(?:no|nr|num(?:ber)?))?",
  "text (?:me|us|him|her)|mobile|cell(?:ular)?|fax|call(?:ing|back|ed)?|whats ?app|sms|reachable (?:at|on|under)|(?:otp|code) (?:\\d{4,8} )?(?:sent )?to|dial|ring|contact(?: us)?(?: at)?|hotline|reach (?:(?:me|us|him|her|you|them)\\b|(?-i:[A-Z\\u00c0-\\u00de])[A-Za-z\\u00c0-\\u024f'’.-]{1,23}(?: [A-Za-z\\u00c0-\\u024f'’.-]{2,24})? (?:at|on|under|via)(?=\\W{0,3}$))|(?:my|his|her|their|our) line|msisdn|(?:caller|callee)(?:['’]s)?(?: ?(?:id|no|num(?:ber)?))?(?=\\W{0,4}$)|ph(?:\\.? ?no)?(?=\\.?[:#]|\\. ?$)|cp ?(?:#|no)",
  "(?:my|his|her|their|your|the) [\\w ]{0,16}numbers? is|desk|office|t[ée]l[ée]phone|tél|tel[ée]fono|telefon\\w*|(?:handy|mobil|ruf|fax)(?:nummer|[- ]?nr)|handy|mobil|portable|celular|m[óo]vil",
  "telem[óo]vel|tlm|fone|mob|nås på|telefone|telefoon\\w*|cellulare|cep|gsm|puhelin\\w*|kom[óo]rk\\w*|tlf|mobiel|telefonsz[áa]m|τηλ(?:έφωνο)?",
  "ruf(?:e|en|t)? (?:mich|uns|ihn|sie|doch|bitte|einfach)\\b(?: [a-zäöüß]{2,10}){0,4}|anruf\\w*|erreich\\w*|r[üu]ckruf\\w*|rufen sie|durchwahl|joindre|joignable|r?appele[zr]|r?appelle[sz]?|port\\. ?:|fixe ?:|ll[áa]m\\w+|tel[ée]fon\\w*|lig(?:ue|uem|ar)(?:-\\w+)?|contacto?|chiam\\w+",
  "recapito(?: telefonico)?|bereik\\w*|bel(?:len)?|dzwoni[ćc]?|zadzwo[nń]\\w*|kontaktow[ya]|kontakt(?:telefon)?(?= ?:)|(?:m[óo]j|tw[óo]j|nasz|jego|jej|pod|na) numer(?: (?:to|jest))?(?=\\W{0,6}$)|ula[şs]\\w*|telefonu",
  "звон[а-яё]+|позвон[а-яё]+|(?:мой|твой|наш|его|е[её]|их|по|на|этот|этому) номер[ау]?(?=[^а-яё]{0,5}$)|拨打|致电|联系|連絡先|お電話|(?:私|僕|俺|彼|彼女|自分|こちら)の番号|연락|(?:제|내) 번호",
  "телефон[а-яё]*|тел|моб[а-яё]*|电话(?:号码)?|電話(?:番号)?|手机(?:号码?)?|手機|携帯(?:電話|番号)?|전화(?:번호)?|휴대(?:폰|전화)|연락처|(?:ال)?(?:هاتف|جوال|موبايل|محمول|تليفون|تلفون)|تلفن|موبایل|فون|फ़ोन|फोन|मोबाइल|ফোন|মোবাইল|கைபேசி|தொலைபேசி",
  "tl?fno|tlfno|tel[ée]f|fono|rückfragen|טלפון|(?<![א-ת])נייד|điện thoại|sđt|số (?:của tôi|di động)|โทร(?:ศัพท์)?|เบอร์(?:โทร)?|มือถือ|κινητό|τηλ|puh|handphone|(?:no\\.?|nomor) ?(?:hp|wa)|hp(?= ?:)",
);

/** Those of the words that name nothing else. */
export const NAMED_PHONE = words(
  "(?:tele)?phone|tel|mobile|cell(?:ular|phone)?|fax|whats ?app|hotline|(?:best |contact )?number to (?:call|reach|text)|reach (?:me|you)|t[ée]l[ée]phone|portable|tel[ée]fono|telefon\\w*|t[ée]l|recapito",
  "(?:handy|mobil|ruf|fax)(?:nummer|[- ]?nr)|handy|mobil\\w*|rückrufnummer|durchwahl|celular|m[óo]vil|telem[óo]vel|telefone|telefoon\\w*|cellulare|cep|gsm|puhelin\\w*|kom[óo]rk\\w*|mobiel|τηλέφωνο|κινητό",
  "телефон[а-яё]*|电话(?:号码)?|電話(?:番号)?|手机(?:号码?)?|手機|携帯(?:電話|番号)?|전화(?:번호)?|휴대(?:폰|전화)|연락처|טלפון|(?<![א-ת])נייד|điện thoại|sđt|โทรศัพท์|เบอร์โทร|มือถือ",
);

/** Words for numbers of something else, and what may stand between them and the number. */
export const OTHER_NUMBER =
  /(?<!\p{L})(?:orders?|invoice|ticket|case|tracking|reference|ref|customer|contract|serial|claim|policy|booking|part|item|article|batch|confirmation|transaction|session|request|issue|incident|(?:bestell|rechnungs|kunden|sendungs|vertrags|artikel|vorgangs|auftrag|bestellung|rechnung|serien|ticket|order|faktuur|factuur|klant|ärende|faktura|kund)\p{L}*|commande|facture|suivi|contrat|dossier|pedido|factura|seguimiento|contrato|expediente|ordine|fattura|pratica|protocolo|zam[óo]wieni\p{L}|faktur\p{L}|umowy|przesyłki|zgłoszenia|заказа?|договор\p{L}?|заявк\p{L}|счёт\p{L}?|订单|注文|주문)[^\d\n]{0,20}$/iu;
