/**
 * Keys and tokens of issuers with an entity type of their own. Tokens are data: a new form is one line in a
 * recognizer's `tokens`; issuers without an own type are in api_keys.ts.
 */

import type { Recognizer } from "../recognizer.ts";
import { CREDENTIALS } from "./credentials.ts";

export const ISSUERS: readonly Recognizer[] = [
  {
    type: "AWS_ACCESS_KEY",
    group: "SECRET",
    aliases: ["AWS_ACCESS_KEY_ID", "AWS_ACCESS_TOKEN"],
    triggers: CREDENTIALS,
    tokens: [
      "AKIA|ASIA|ABIA|ACCA [A-Z0-9]{16}",
      "A3T [A-Z0-9]{17}",
    ],
    samples: {
      found: ["use «AKIANAMZOO6VPTQCS6K8» here", "«A3T7SVU4GQDADXVFFT65»"],
      clean: ["AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AKIA and ASIA"],
    },
  },
  {
    type: "AWS_SECRET_KEY",
    group: "SECRET",
    aliases: ["AWS_SECRET_ACCESS_KEY"],
    triggers: CREDENTIALS,
    tokens: [
      "ABSK [A-Za-z0-9+/]{60,300}={0,2}",
      "bedrock-api-key- [A-Za-z0-9+/=]{40,600}",
      "da2- [a-z0-9]{26}",
      "amzn.mws. H{8}-H{4}-H{4}-H{4}-H{12}",
      "YC [A-Za-z0-9_-]{38}",
      "amzn1.oa2-cs.v1. H{64}",
    ],
    samples: {
      found: [
        "AWS_SECRET_ACCESS_KEY=«/OW+BgMDdHI3/LtKWJ6EEcYRnzdFjzfCvMipKAZb»",
        `${"k".repeat(40)}\nAWS_SECRET_ACCESS_KEY=«hhKFMvuJiAo/RAxTV6UQB02HH3cyBY10Q62mVVbl»`,
        'aws_secret: "«+O1udTvWnF/+xeg44mikppmbTSTKBq2yOC5JGwRB»"',
        "use «ABSKJNVySkDRsoJXqh6a5gOhFNOPwQ1F8f0HHPDnTXqch1YRVfIUxCWub0deOngH» here",
        "«bedrock-api-key-nzUBZfrZg5v5FSnJrEnPQ0JhpnzarJ0FWegfUeug»",
        "«da2-4k7ofbocd8b4jypitsbhh4vc0l»",
        "«amzn.mws.61211cbb-537e-51e5-f339-f4b4d48b8ba4»",
        "«YC8l18USMhcZLQQaJvvcOsG2POwy1PNAtIxizmSf»",
        "«amzn1.oa2-cs.v1.e4c9a81eb0a4dbf8e313ec45dcbb3ddc321357715ae204c7a91c6a95198c60fc»",
        'aws_secret_access_key = "«nZ8qL2vXk0TbR5wYd9JmC4hPs7GfU1aE6iKoBxNt»"',
      ],
      clean: ['aws_secret_access_key = "${SECRET}"', "bedrock-api-key-rotation-guide-for-administrators"],
    },
  },
  {
    type: "GITHUB_TOKEN",
    group: "SECRET",
    aliases: ["GITHUB_PAT"],
    triggers: CREDENTIALS,
    tokens: [
      "ghp_|gho_|ghu_|ghs_|ghr_ A{36,255}",
      "ghs_|ghu_ [A-Za-z0-9]{1,20}_eyJ[A-Za-z0-9_-]{10,2000}\\.[A-Za-z0-9_-]{10,4000}\\.[A-Za-z0-9_-]{10,1000}",
      "github_pat_ [A-Za-z0-9_]{36,255}",
    ],
    samples: {
      found: [
        "use «ghp_nECfvPTyfTgWVhiHG3AqUK06ynaynipyef8n» here",
        "«github_pat_MfUuS2f79zPR3vRdymmNDi31qPreG95aZe4H»",
        "«ghs_184732_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxODQ3MzIiLCJpYXQiOjE3NjQwfQ.q7Zk29xLm4Vb81RtYp03nWe5»",
      ],
      clean: ["token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_short"],
    },
  },
  {
    type: "GITLAB_TOKEN",
    group: "SECRET",
    aliases: ["GITLAB_PAT"],
    triggers: CREDENTIALS,
    tokens: [
      "glpat-|gldt-|glft-|glffct-|glsoat-|glrt-|glrtr-|glimt-|glcbt-|glagent-|gloas-|glptt-|glwt- [A-Za-z0-9_=-]{20,80}(?:\\.[A-Za-z0-9_=-]{2,40}){0,2}",
      "GR1348941 W{20,60}",
    ],
    samples: {
      found: [
        "use «glpat-G5B6Hq6Uu3hgP08ChoeD» here",
        "«GR1348941TEl1GJNQQ42t5WwnB3Ev»",
        "«glpat-THXZ7Jlx9YrAdgOsCOYf08ieq0X.8r.cnmtyt7br»",
      ],
      clean: ["glpat-your-token-goes-in-here", "glpat-xxxxxxxxxxxxxxxxxxxx"],
    },
  },
  {
    type: "SLACK_TOKEN",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxo-|xoxc-|xoxd-|xoxe- [A-Za-z0-9-]{10,250}",
      "xoxe.xox [bp]-\\d-[A-Za-z0-9]{100,250}",
      "xoxb|xoxp \\s\\d{9,14}\\s\\d{9,14}\\s[A-Za-z0-9]{20,40}",
      "xapp- \\d{1,10}-[A-Za-z0-9]{1,40}-\\d{1,20}-[A-Za-z0-9]{10,120}",
      "hooks.slack.com/ (?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80}",
    ],
    samples: {
      found: [
        "use «xoxb-Yuxx7aiIS8» here",
        "«hooks.slack.com/services/0x7emseMIxdhiCLhxcOQttjWAydSU8fuuFmk3GZb»",
        "«xapp-1-A03QK7D2M9X-3722654487-9f3c7a1be5d04862»",
      ],
      clean: ["xoxb-your-token-here", "hooks.slack.com/services/"],
    },
  },
  {
    type: "STRIPE_KEY",
    group: "SECRET",
    aliases: ["STRIPE_ACCESS_TOKEN"],
    triggers: CREDENTIALS,
    tokens: [
      "sk_live_|sk_test_|sk_prod_|rk_live_|rk_test_|rk_prod_ [A-Za-z0-9]{10,120}",
      "whsec_ [A-Za-z0-9+/=]{24,80}",
    ],
    samples: {
      found: ["use «sk_live_Q5WRMDWv3g» here", "«whsec_q6dwlmJLOMQq7vEsjXlXxsNE»"],
      clean: ["sk_live_xxxxxxxxxxxxxxxx", "sk_test_your_key"],
    },
  },
  {
    type: "GOOGLE_API_KEY",
    group: "SECRET",
    aliases: ["GCP_API_KEY"],
    triggers: CREDENTIALS,
    tokens: [
      "AIza [A-Za-z0-9_-]{35}",
      "AQ.Ab8RN6 W{40,60}",
      "GOCSPX- W{28}",
      "ya29. [A-Za-z0-9_-]{20,300}",
      "AAAA [A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{140}",
      "1//0 W{40,100}",
    ],
    samples: {
      found: [
        "use «AIza548nIiMeHjawDdTD1yinPuqsjWtglt00TU2» here",
        "«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»",
        "«ya29.sAbwXZ6W2u4H3s0Jg3am»",
        "«1//0myxaukmm3VGb5ZHw9ZciwtJSNcaxnPBOd2lCyxc4»",
      ],
      clean: ["AIzaSyExampleExampleExampleExampleExamp", "AIza"],
    },
  },
  {
    type: "AZURE_KEY",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "AccountKey= [A-Za-z0-9+/]{60,90}={0,2}",
      "SharedAccessKey= [A-Za-z0-9+/]{40,60}={0,2}",
      "SharedAccessSignature= [\\w%&=+/.:~?-]{40,300}",
    ],
    samples: {
      found: [
        "https://a.blob.core.windows.net/c/f.csv?sv=2022-11-02&sp=r&sig=«m22ZeDEwuGuORXW3rG9M3nQIXOmX4hMVE4CdC4ZdeoA%3D»",
        "use «AccountKey=ow6XeaNSV62CyBcWfcTif3efRPudRf3CMpT1b0YuqUEJqfXWPekaYS4vLCwZ» here",
        "«SharedAccessKey=CNmYZKWpcmRamGH6MuVE0vK1qdpuR7XuahPBrSdf»",
        "«SharedAccessSignature=F65EpNr2vRO0W5N48axjHf5XrHmg4TDEDMcwHywt»",
        '{"a":"«SharedAccessSignature=F65EpNr2vRO0W5N48axjHf5XrHmg4TDEDMcwHywt»","n":12}',
        "«Abc8Q~x7Kp2QzLm4Vb81RtYp03nWe5sHc9Jd2f»",
      ],
      clean: ["AccountKey=<your-account-key>", "AccountKey="],
    },
  },
  {
    type: "OPENAI_API_KEY",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "sk-proj-|sk-svcacct-|sk-admin-|sk-None- [A-Za-z0-9_-]{20,200}",
      "sk- [A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
      "sk- [A-Za-z0-9]{48}",
      "sk- A{32,64}",
    ],
    samples: {
      found: [
        "use «sk-proj-QHkRXsVmMA7RiIis3bSo» here",
        "«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»",
        "«sk-WoM1WFxwkX53447Ql7f1bunc0FPwhkHK2XbHvBGUSg68ZXe4»",
        "«sk-unJd0VEs0dyGQb4vFieowBPViJlckUDS»",
      ],
      clean: ["sk-proj-your-api-key-goes-here", "sk-learn-compatible-estimators"],
    },
  },
  {
    type: "ANTHROPIC_API_KEY",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "sk-ant- [a-z0-9]{3,12}-[A-Za-z0-9_-]{40,140}",
    ],
    samples: {
      found: ["use «sk-ant-1vx-fFpABYulpOmB232m9XA12jpDtm2m91d1eL3w2TB1» here"],
      clean: ["sk-ant-api03-your-key-here", "sk-ant-"],
    },
  },
  {
    type: "HUGGINGFACE_TOKEN",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "hf_ [A-Za-z0-9]{30,40}",
      "api_org_ [A-Za-z0-9]{30,40}",
    ],
    samples: {
      found: ["use «hf_vrfWPRQZ0ATL7CNUBUd8q2qyFpIm81» here", "«api_org_lvXtpQB9vqi5zNGzyjykhKJw7X9SRI»"],
      clean: ["hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "hf_hub_download"],
    },
  },
  {
    type: "NPM_TOKEN",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "npm_ A{36}",
    ],
    samples: {
      found: ["use «npm_f6gKaP5dPZO6PHcxB9fTzL7p5BwBPtj3p46c» here"],
      clean: ["npm_config_registry", "npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
    },
  },
  {
    type: "PYPI_TOKEN",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "pypi- AgE[A-Za-z0-9_-]{50,1000}",
    ],
    samples: {
      found: ["use «pypi-AgEhNQCzAngrMU0jEm2hfqOTapsikNUh18hlcffVSLumlmImkpQFD» here"],
      clean: ["pypi-AgEIcHlwaS5vcmc", "pypi-simple"],
    },
  },
  {
    type: "SENDGRID_API_KEY",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "SG. [A-Za-z0-9=_-]{16,32}[.=_-][A-Za-z0-9=_.-]{30,64}",
    ],
    samples: {
      found: ["«SG.tCzZk1eoMr4IwjMlqWzX.ioom6VzKS4gebLpuzohiXPYRcGYfZPa9dK3mQ2w»"],
      clean: ["SG.your_api_key_id.your_api_key_secret_value_here", "SG.1"],
    },
  },
  {
    type: "TWILIO_KEY",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "SK [a-fA-F0-9]{32}",
    ],
    samples: {
      found: ["use «SK4d6eccb500244b52b9735e4985c6f0c5» here"],
      clean: ["SK00000000000000000000000000000000", "SK1"],
    },
  },
  {
    type: "TELEGRAM_BOT_TOKEN",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "bot \\d{8,10}:[A-Za-z0-9_-]{35}",
    ],
    samples: {
      found: [
        "use «bot60632217:HYxLxLOfDoQ6A8OrCRsK60vJysJn9jQMJk8» here",
        "TELEGRAM=«60632217:AAHxLxLOfDoQ6A8OrCRsK60vJysJn9jQMJk»",
      ],
      clean: ["bot12345678:short", "12345:30"],
    },
  },
  {
    type: "DISCORD_TOKEN",
    group: "SECRET",
    triggers: CREDENTIALS,
    tokens: [
      "discord.com/api/webhooks/|discordapp.com/api/webhooks/ \\d{16,20}/W{60,80}",
    ],
    samples: {
      found: [
        "use «discord.com/api/webhooks/1201874318316183/FlM2kt2aGYOtSa0Srw4A888Hxh2Agdtl0ozQliwe7IHsRAzdSJSoeeff6G7p» here",
        "«MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs»",
      ],
      clean: ["discord.com/api/webhooks/123/abc", "MODULE_NAME.method.call"],
    },
  },
];
