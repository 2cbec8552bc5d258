/** Passwords and keys that their place in a line, command, call or file identifies, and texts of the same forms without any. */
import { assertEquals } from "@std/assert";
import { DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";

const { scan } = detector(DEFAULT_TYPES);

/** Found values are between « and »; the signs are removed before the text is scanned. */
const FOUND: Record<string, readonly string[]> = {
  "lines of accounts": [
    "[smtp.corp.example]:587    jo@corp.example:«Heron2042!»",
    "# /etc/postfix/sasl_passwd\nsmtp.corp.example jo:«kV7pQz2mLx»\n",
    "*.corp.example:jo:«kV7pQz2mLx»",
    "«jo.lee@corp.example»:«kV7pQz2mLx9wRt4n»\n«an_ray@corp.example»:«bN3kTq8vZs5dYc1m»\n",
    '"jo"\t*\t"«Heron2042!»"\t*\nan * «kV7pQz2mLx» 10.0.0.5\n',
    '10.0.0.1 %any : PSK "«Heron2042!»"\njo : XAUTH "«kV7pQz2mLx»"',
    "jo:{PLAIN}«kV7pQz2mLx»:1000:1000::/home/jo::",
    "https://dav.corp.example/ jo «kV7pQz2mLx9»",
    "#cloud-config\nchpasswd:\n  expire: false\n  list: |\n    root:«kV7pQz2mLx»\n    ubuntu:«bN3kTq8vZs»\n",
    'BUNDLE_GEMS__CORP__EXAMPLE: "jo:«kV7pQz2mLx»"',
  ],
  "arguments of commands": [
    "sshpass -p«kV7pQz2mLx» ssh jo@host",
    'plink -ssh jo@10.20.0.4 -pw «kV7pQz2mLx» "uptime"',
    "unrar x -p«kV7pQz2mLx» a.rar",
    "rdesktop -u jo -p «kV7pQz2mLx» 10.0.0.9",
    "http -a jo:«kV7pQz2mLx» POST :8000/api",
    "openssl enc -aes-256-cbc -k «kV7pQz2mLx» -in a -out b",
    'snmpwalk -v3 -u jo -a SHA -A "«kV7pQz2mLx»" -x AES -X "«Heron2042!»" 10.0.0.1',
    'createUser jo SHA "«kV7pQz2mLx»" AES "«Heron2042!»"',
    "schtasks /create /tn Backup /ru CORP\\jo /rp «kV7pQz2mLx»",
    "/msg NickServ IDENTIFY «kV7pQz2mLx»",
    'gh secret set API_TOKEN --body "«SRj4DP1WBPLh4AkpEi6d9e7d6h4sWK7poEzyTKSp»"',
    JSON.stringify({ args: JSON.stringify({ s: "net use \\\\files\\team /user:bob «Gw07#pLmv38»", k: 1 }) }),
    'curl -b "JSESSIONID=«90C178D3302E7AE0E590B728BE5F454F»" https://app.example/secure',
  ],
  "dialogues of protocols": [
    "C: AUTH PLAIN «AGpvAGtWN3BRejJtTHg=»\nS: 235 2.7.0 ok",
    "334 UGFzc3dvcmQ6\r\n«a1Y3cFF6Mm1MeA==»\r\n235 ok",
    "a1 LOGIN jo «kV7pQz2mLx»\r\n",
    "open ftp.example\nuser jo «kV7pQz2mLx9wRt4n»\nput a\n",
    '{"name":"Cookie","value":"sessionid=«acf9a3d48c6746c12a884fc138b56148»; theme=dark"}',
  ],
  "settings of devices and systems": [
    "set passwd ENC «xRRK9ompBnaiJtvLAOazIDbmEkkgEl7Guk7bsvQxJUA5»",
    "    Key Content            : «kV7pQz2mLx»",
    "rootpw --plaintext «kV7pQz2mLx»",
    "user jo on >«kV7pQz2mLx» ~* +@all",
    "«-----BEGIN OpenVPN Static key V1-----\n81c0decb45d4d41b444db2aa946ecde1\n00a71adfe63487442bb0562a54598a8e\n-----END OpenVPN Static key V1-----»",
    '{"type":1,"login":{"username":"jo","totp":"«SURSU25VFLX7IUPJVT73PF2AT6DIYVNQ»"}}',
    "url,username,totp\nhttps://a.example,jo,«SURSU25VFLX7IUPJVT73PF2AT6DIYVNQ»\n",
    "    client-key-data: «LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCmkzdU9TMmlCSm44amxtSk1vb0hSenlpeUJWVzFsbzdXd2x6Z28zT05PMHFTZGRxTEY1T0wK»\n    token: x",
  ],
  "programs": [
    'PASSWORD = os.environ.get("PASSWORD") or "«kV7pQz2mLx»"',
    "const p = process.env.DB_PASSWORD || '«river-maple762»';",
    'req.SetBasicAuth("jo", "«kV7pQz2mLx»")',
    "request.basic_auth 'jo', '«kV7pQz2mLx»'",
    'new DirectoryEntry("LDAP://10.1.1.1", "corp\\\\jo", "«kV7pQz2mLx»")',
    'public string Secret { get; set; } = "«AcZZ7d8ML3Lx3JYISx62EXmbD9zdxKKw»";',
    'client = Client("AC7a522fb53249715b37784a998dbb7e1c", "«a452a463e08b24f06230fe9b3197ab78»")',
    "db_pass: &dbpass «kV7pQz2mLx»",
    "password: >-\n  «kV7pQz2mLx»\n",
    '"parameters":[{"name":"api_key","in":"header","example":"«A6XSp3N4MDBNnEYVNFcL3oKQS7h4HKw0»"}]',
    "git clone https://«ghp_DMRAntfSO1vl6DzPU7iM4cJC1uIkaN4e4fME»@github.com/acme/shop.git",
  ],
  "pairs of a user and a password": [
    "ID/PW(jo/«kV7pQz2mLx»)",
    "user/pass -> jo / «kV7pQz2mLx»",
  ],
};

for (const [where, texts] of Object.entries(FOUND)) {
  Deno.test(`scan() finds secrets in ${where}`, () => {
    for (const marked of texts) {
      const values = [...marked.matchAll(/«([^»]+)»/g)].map(([, value]) => value);
      const text = marked.replace(/[«»]/g, "");
      const found = scan(text).filter(({ entityType, start, end }) =>
        entityType !== "EMAIL_ADDRESS" || values.includes(text.slice(start, end))
      );
      assertEquals(found.map(({ start, end }) => text.slice(start, end)), values, marked);
    }
  });
}

Deno.test("scan() of these forms with a line many times, and a name that is too short behind it, comes to an end", () => {
  const texts = Object.values(FOUND).flat().map((marked) => marked.replace(/[«»]/g, ""));
  for (const text of texts) {
    const lines = text.split("\n");
    lines.forEach((line, i) => {
      const more = Array.from({ length: 60 }, () => `${" ".repeat(12)}${line}`);
      const rest = lines.slice(i).join("\n").replace(/\w+(?=:)/g, "a");
      assertEquals(Array.isArray(scan([...lines.slice(0, i), ...more, rest].join("\n"))), true);
    });
  }
});

const CLEAN: readonly string[] = [
  "git@github.com:acme/shop2\nscp jo@srv.corp.example:backup2024.tar.gz .",
  "listen srv.corp.example 10.0.0.5:8080",
  "https://docs.corp.example/ guide Version2",
  "image: registry.corp.example/app:v2beta1",
  "Error: src.corp.example:main:line42",
  "* server * Windows2019 *",
  "chpasswd:\n  list: |\n    root:changeme\n",
  "http -a jo:$PASSWORD POST :8000/api",
  "openssl req -key server2.key -k8s",
  "snmpwalk -v3 -A $AUTH2 -X ${PRIV2} host",
  "I identify as User2024 in NickServ",
  "AUTH PLAIN LOGIN CRAM-MD5",
  "a1 LOGIN failed",
  "user account Version2024",
  "password: {{ .Values.db.password | b64enc | quote }}",
  '"passwort": "Passwort", "kennwort": "Kennwort"',
  '["trust", "password", "scram-sha-256"]',
  "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
  "* cipher/pubkey.c, cipher/rfc2268.c: Likewise (get_dsa_key_fips186_new)",
  "const p = process.env.DB_PASSWORD || '';",
  "password = get('a') or default2",
  "public string Password { get; set; } = string.Empty;",
  "password: >-\n  ${DB_PASSWORD}\n",
  "password: &default\n  min: 8\n",
  "id/password: see chapter 2",
  "JSESSIONID=; Path=/",
  '"client_secret": "clientSecret", "is_secret": "isSecret", dbPassword: "db-password"',
  'type:"password",disabled:!0}, {type: "password", defaultValue:n||"", name: "x"}',
  '__all__ = ["WorkspaceSecret", "Config"]\nkinds = ["Secret", "Service"]',
  'implementation "com.google.guava:guava:31.0-jre"',
  "implementation 'org.springframework.boot:spring-boot-starter:2.3.12.RELEASE'",
  'needs "username and password" or "verifyUser"',
  'e.g. "a/../../etc/passwd" or "a/../file.txt" is not caught',
  "Under `IAM_TOKEN_DB_AUTH` or `AZURE_POSTGRESQL_AUTH` that password is a token",
  "neither IAM_TOKEN_DB_AUTH nor 'AZURE_POSTGRESQL_AUTH' is on",
  '{"internalModelId":"openai:gpt-5-2025-08-07"}',
  "model: openai:o4-mini-deep-research-2025-06-26",
  "azure:gpt-4.1-nano-2025-04-14, google:gemini-2.5-pro-preview-06-05",
];

Deno.test("scan() takes nothing for a secret in lines, commands and programs without one", () => {
  for (const text of CLEAN) {
    const found = scan(text).filter(({ entityType }) => entityType !== "EMAIL_ADDRESS");
    assertEquals(
      found.map(({ entityType, start, end }) => `${entityType}: ${text.slice(start, end)}`),
      [],
      text,
    );
  }
});
