/** Recognizers of secrets that are known by what they are, whoever issued them. */

import type { Recognizer } from "../recognizer.ts";
import { API_KEY_TOKENS } from "./api_keys.ts";
import { AZURE_DEVOPS_TOKEN } from "./azure_devops.ts";
import { CREDENTIALS } from "./credentials.ts";
import { ISSUERS } from "./issuers.ts";
import { PASSWORD_HASH } from "./password_hash.ts";
import { SEED_PHRASE } from "./seed_phrase.ts";
import { TEAMS_WEBHOOK } from "./teams_webhook.ts";

export const SECRETS: readonly Recognizer[] = [
  ...ISSUERS,
  AZURE_DEVOPS_TOKEN,
  TEAMS_WEBHOOK,
  PASSWORD_HASH,
  SEED_PHRASE,
  {
    type: "PRIVATE_KEY",
    group: "SECRET",
    aliases: ["ENCRYPTION_KEY"],
    triggers: CREDENTIALS,
    samples: {
      found: [
        "«-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj7d8fK2p0QzX1\n-----END RSA PRIVATE KEY-----»",
      ],
      clean: ["-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0B\n-----END PUBLIC KEY-----"],
    },
  },
  {
    type: "JWT",
    group: "SECRET",
    aliases: ["JSON_WEB_TOKEN"],
    triggers: CREDENTIALS,
    samples: {
      found: ["Cookie: s=«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4N0twMlF6OSJ9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg»"],
      clean: ["eyJhbGciOiJIUzI1NiJ9", "eyJ.eyJ.x"],
    },
  },
  {
    type: "DATABASE_CONNECTION_STRING",
    group: "SECRET",
    triggers: CREDENTIALS,
    samples: {
      found: ["«redis://:p4ssW0rd9@cache»:6379", "«postgres://bob:hunter2secret@db.internal»/x"],
      clean: [
        "postgres://localhost/x",
        "postgres://user:password@host/db",
        "https://bob:tr0ub4dor@git.corp.example/x",
      ],
    },
  },
  {
    type: "BASIC_AUTH",
    group: "SECRET",
    aliases: ["BASIC_AUTH_HEADER"],
    triggers: CREDENTIALS,
    samples: {
      found: [
        "https://«bob:tr0ub4dor»@git.corp.example/x",
        "curl -u «admin:S3cr3t!pw» https://x.example",
        "Authorization: Basic «c3ZjOnE3WmsyOXhMbTRWYjgxUnQ=»",
      ],
      clean: [
        "https://user:password@example.com/",
        "curl -u user:$PASSWORD https://x.example",
        "a basic understanding",
      ],
    },
  },
  {
    type: "PASSWORD",
    group: "SECRET",
    triggers: CREDENTIALS,
    samples: {
      found: [
        "mot de passe : «Tr0ub4dor&3»",
        "senha: «Tr0ub4dor&3»",
        "пароль: «Tr0ub4dor&3»",
        "密码是«Tr0ub4dor&3»",
        "パスワードは«Tr0ub4dor&3»です",
        "비밀번호: «Tr0ub4dor&3»",
        "hasło to «Tr0ub4dor&3»",
        "wachtwoord is «Tr0ub4dor&3»",
        "şifre: «Tr0ub4dor&3»",
        "contraseña: «Tr0ub4dor&3»",
        "DB_PASSWORD=«Tr0ub4dor&3»",
        "pwd: «x7Kp2Qz9»",
        '"passphrase": "«correct7Horse»"',
        "«x7$kLm29» is my wifi password.",
        "What's the wifi password?\nBob: sure, it's «blue-Heron42»",
        "le mdp du serveur c'est «Gw07-pLmv38»",
      ],
      clean: [
        "Windows11 is the password manager of choice",
        "What is the password?\n42 people asked",
        "Forgot your password? Reset2FA now",
        "password=${DB_PASSWORD}",
        "password: settings.PASSWORD",
        "the password is wrong",
        "the password, Tr0ub4dor-style",
        "PWD=/home/jo/projects/App2",
        "OLDPWD='/Users/Jo/My App 1'",
        '"pwd": "C:\\Users\\Jo1"',
        "DB_PASSWORD=/run/secrets/db_Password1",
        "def getpass(prompt='Password: ', stream=None):",
        "0x33ba:'pw', 0x33bb:'nw'",
        "'user[:passwd]', 'host[:port]'",
        " /etc/pam.d/passwd eaf2ad85b5ccd06cceb19a3e75f40c63",
      ],
    },
  },
  {
    type: "API_KEY",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: API_KEY_TOKENS,
    samples: {
      found: [
        "«dop_v1_4f52b1c9e07d3a86f1b2c3d4e5a697880f1e2d3c4b5a69788796a5b4c3d2e1f0»",
        "use «re_A1b2C3d4_3f1b495289a4592257386d3f» here",
        'api_key = "«q7Zk29xLm4Vb81RtYp03»"',
        "«q7Zk29xLm4Vb81RtYp03» is my API key",
      ],
      clean: [
        "q7Zk29xLm4Vb81RtYp03 is the key of the map",
        'api_key = "your-api-key-here"',
        "Authorization: Bearer $TOKEN",
        "tokenCount: 123456789012",
        "GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568",
        'raise KeyError("sdkinstallrootv2.0")',
        " /etc/a/apikeys 4f20b0c45a8822b697dc9e36e6744037",
      ],
    },
  },
  {
    type: "GENERIC_SECRET",
    group: "SECRET",
    aliases: ["GENERIC_API_KEY"],
    triggers: CREDENTIALS,
    samples: {
      found: [
        '"clientSecret": "«q7Zk29xLm4Vb81RtYp03»"',
        "mailgun «3f1b495289a4592257386d3f8fa22818»",
        "Clé secrète : «q7Zk29xLm4Vb81RtYp03»",
      ],
      clean: ["const secretKey = getSecretKeyFromEnvironment", "commit 3f1b495289a4592257386d3f8fa22818"],
    },
  },
];
