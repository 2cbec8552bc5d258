/**
 * Credentials that name their issuer: a fixed beginning, then a body of a known alphabet and length.
 *
 * The formats are those that the vendors publish, or that can be seen on any key they hand out. A row is type,
 * beginning, and the pattern of the rest; `A` stands for letters and digits, `W` for those and `_` and `-`, `H` for
 * small hexadecimal. The value must also look random: the caller refuses placeholders and low entropy.
 */

export interface VendorRule {
  readonly type: string;
  readonly prefix: string;
  /** Sticky; matches from the beginning on. */
  readonly pattern: RegExp;
}

const FACTS = `
AWS_ACCESS_KEY AKIA|ASIA|ABIA|ACCA [A-Z0-9]{16}
AWS_ACCESS_KEY A3T [A-Z0-9]{17}
AWS_SECRET_KEY ABSK [A-Za-z0-9+/]{60,300}={0,2}
AWS_SECRET_KEY bedrock-api-key- [A-Za-z0-9+/=]{40,600}
AWS_SECRET_KEY da2- [a-z0-9]{26}
AWS_SECRET_KEY amzn.mws. H{8}-H{4}-H{4}-H{4}-H{12}
AWS_SECRET_KEY YC [A-Za-z0-9_-]{38}
GITHUB_TOKEN ghp_|gho_|ghu_|ghs_|ghr_ A{36,255}
GITHUB_TOKEN github_pat_ [A-Za-z0-9_]{36,255}
GITLAB_TOKEN glpat-|gldt-|glft-|glffct-|glsoat-|glrt-|glrtr-|glimt-|glcbt-|glagent-|gloas-|glptt-|glwt- [A-Za-z0-9_=-]{20,80}(?:\\.[A-Za-z0-9_=-]{8,40}){0,2}
GITLAB_TOKEN GR1348941 W{20,60}
GITLAB_TOKEN _gitlab_session= [0-9a-z]{32}
SLACK_TOKEN xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxo-|xoxc-|xoxd-|xoxe- [A-Za-z0-9-]{10,250}
SLACK_TOKEN xoxe.xox [bp]-\\d-[A-Za-z0-9]{100,250}
SLACK_TOKEN xapp- \\d-[A-Za-z0-9]+-\\d+-[A-Za-z0-9]+
SLACK_TOKEN hooks.slack.com/ (?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80}
STRIPE_KEY sk_live_|sk_test_|sk_prod_|rk_live_|rk_test_|rk_prod_ [A-Za-z0-9]{10,120}
STRIPE_KEY whsec_ [A-Za-z0-9+/=]{24,80}
GOOGLE_API_KEY AIza [A-Za-z0-9_-]{35}
GOOGLE_API_KEY GOCSPX- W{28}
GOOGLE_API_KEY ya29. [A-Za-z0-9_-]{20,300}
GOOGLE_API_KEY AAAA [A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{140}
AZURE_KEY AccountKey= [A-Za-z0-9+/]{60,90}={0,2}
AZURE_KEY SharedAccessKey= [A-Za-z0-9+/]{40,60}={0,2}
AZURE_KEY SharedAccessSignature= \\S{40,300}
OPENAI_API_KEY sk-proj-|sk-svcacct-|sk-admin-|sk-None- [A-Za-z0-9_-]{20,200}
OPENAI_API_KEY sk- [A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}
OPENAI_API_KEY sk- [A-Za-z0-9]{48}
ANTHROPIC_API_KEY sk-ant- [a-z0-9]{3,12}-[A-Za-z0-9_-]{40,140}
HUGGINGFACE_TOKEN hf_ [A-Za-z0-9]{30,40}
HUGGINGFACE_TOKEN api_org_ [A-Za-z0-9]{30,40}
NPM_TOKEN npm_ A{36}
PYPI_TOKEN pypi- AgE[A-Za-z0-9_-]{50,1000}
SENDGRID_API_KEY SG. [A-Za-z0-9=_-]{16,32}[.=_-][A-Za-z0-9=_.-]{30,64}
TWILIO_KEY SK H{32}
TELEGRAM_BOT_TOKEN bot \\d{8,10}:[A-Za-z0-9_-]{35}
API_KEY shpat_|shpca_|shppa_|shpss_|shpua_ [A-Fa-f0-9]{32}
API_KEY dop_v1_|doo_v1_|dor_v1_ H{64}
API_KEY dapi H{32}(?:-\\d)?
API_KEY dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit. [A-Za-z0-9._-]{40,70}
API_KEY dt0c01.|dt0s16.|dt0s01. [A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}
API_KEY dnkey- [A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}
API_KEY duffel_test_|duffel_live_ [A-Za-z0-9_=-]{43}
API_KEY EZAK|EZTK [A-Za-z0-9]{54}
API_KEY FLWSECK_TEST-|FLWPUBK_TEST-|FLWSECK-|FLWPUBK- [A-Za-z0-9]{12,40}(?:-X)?
API_KEY fio-u- [A-Za-z0-9=_-]{64}
API_KEY fm1a_|fm1r_|fm2_|fo1_ [A-Za-z0-9+/=_-]{40,1000}
API_KEY glc_ [A-Za-z0-9+/]{32,400}={0,3}
API_KEY glsa_ [A-Za-z0-9]{32}_[A-Fa-f0-9]{8}
API_KEY eyJrIjoi [A-Za-z0-9]{60,400}={0,3}
API_KEY pat.|sat. W{20,24}\\.[A-Za-z0-9]{20,24}\\.[A-Za-z0-9]{16,24}
API_KEY HRKU- [A-Za-z0-9_-]{36,64}
API_KEY ico- [A-Za-z0-9]{32}
API_KEY lin_api_|lin_oauth_ [A-Za-z0-9]{40,64}
API_KEY live_ [A-Za-z0-9_=-]{40,60}
API_KEY ntn_ [A-Za-z0-9]{43,50}
API_KEY secret_ [A-Za-z0-9]{43}
API_KEY key- H{32}
API_KEY pubkey- H{32}
API_KEY NRAK-|NRII-|NRJS-|NRAA-|NRIQ-|NRRA- [A-Za-z0-9]{19,40}
API_KEY ops_ eyJ[A-Za-z0-9+/=]{100,1000}
API_KEY A3- [A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}
API_KEY pplx- [A-Za-z0-9]{48}
API_KEY pscale_tkn_|pscale_oauth_|pscale_pw_ [A-Za-z0-9=._-]{24,80}
API_KEY PMAK- [A-Za-z0-9]{24}-[A-Za-z0-9]{34}
API_KEY pnu_ [A-Za-z0-9]{36,40}
API_KEY pul- H{40}
API_KEY rdme_ [a-z0-9]{60,80}
API_KEY rubygems_ [a-z0-9]{48}
API_KEY CLOJARS_ [a-z0-9]{60}
API_KEY sc_|ext_|scauth_|authress_ [A-Za-z0-9]{5,30}\\.[A-Za-z0-9]{4,6}\\.acc[_-][A-Za-z0-9-]{10,32}\\.[A-Za-z0-9+/_=-]{30,120}
API_KEY tk-us- [A-Za-z0-9_-]{40,60}
API_KEY xkeysib- H{64}-[A-Za-z0-9]{16}
API_KEY xsmtpsib- H{64}-[A-Za-z0-9]{16}
API_KEY sntrys_ [A-Za-z0-9+/=_-]{60,400}
API_KEY sntryu_ H{64}
API_KEY sm_aat_|sm_pat_|sm_sat_ [A-Za-z0-9]{16}
API_KEY sgp_ (?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}
API_KEY shippo_live_|shippo_test_ [A-Fa-f0-9]{40}
API_KEY sha256~ [A-Za-z0-9_-]{43}
API_KEY sq0atp-|sq0csp-|sq0idp- W{22,60}
API_KEY EAAA [A-Za-z0-9+=_-]{56,64}
API_KEY EAA [A-Za-z0-9]{40,300}
API_KEY tfp_ [A-Za-z0-9=._-]{40,64}
API_KEY hvs.|hvb.|hvr. [A-Za-z0-9_-]{24,400}
API_KEY AQVN W{35,40}
API_KEY t1. [A-Z0-9a-z_-]+={0,2}\\.[A-Za-z0-9_-]{86}={0,2}
API_KEY aio_ [A-Za-z0-9]{28}
API_KEY AKCp|AKCb [A-Za-z0-9]{60,80}
API_KEY ATATT3|ATBB|ATCTT3 [A-Za-z0-9_=-]{24,240}
API_KEY AGE-SECRET-KEY-1 [QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}
API_KEY b_ [A-Za-z0-9=_-]{44}
API_KEY gsk_ [A-Za-z0-9]{48,56}
API_KEY xai- [A-Za-z0-9_-]{70,100}
API_KEY nvapi- [A-Za-z0-9_-]{60,80}
API_KEY r8_ [A-Za-z0-9]{37,40}
API_KEY fc- H{32}
API_KEY jina_ W{50,70}
API_KEY tvly- [A-Za-z0-9-]{28,50}
API_KEY lsv2_pt_|lsv2_sk_ H{32}_H{10}
API_KEY sl. [A-Za-z0-9_-]{120,200}
API_KEY pk.|sk.|tk. [A-Za-z0-9]{56,64}\\.[A-Za-z0-9_-]{20,24}
API_KEY pat [A-Za-z0-9]{14}\\.[0-9a-z]{64}
API_KEY AAAAAAAAAAAAAAAAAAAAA [A-Za-z0-9%]{60,110}
API_KEY tkn.v1_ [A-Za-z0-9+/=]{60,100}
API_KEY sk_ [a-z]{2,8}_[A-Za-z0-9_]{30,80}
API_KEY ak_live_|ak_test_ [A-Za-z0-9]{28,40}
API_KEY flb_live_|flb_test_ [A-Za-z0-9]{20,40}
API_KEY mdb_sa_sk_ W{40}
API_KEY odt_ A{32}
API_KEY oy2 [a-z0-9]{43}
API_KEY hawk. W{20}\\.W{20}
API_KEY phc_|phx_ [A-Za-z0-9]{40,50}
API_KEY pk_live_ [a-z0-9]{32,120}
API_KEY pk_ \\d{6,9}_[A-Z0-9]{30,34}
API_KEY CFPAT- W{43}
API_KEY cfut_|cfat_ [A-Za-z0-9_-]{40,60}
API_KEY v1.0- [a-z0-9]{24}-[a-z0-9]{146}
API_KEY dckr_pat_|dckr_oat_ W{27,40}
API_KEY figd_ W{40}
API_KEY fig_ [A-Za-z0-9_-]{40}
API_KEY nfp_ [A-Za-z0-9]{36,40}
API_KEY rnd_ [A-Za-z0-9]{28,40}
API_KEY sbp_ [a-z0-9]{40}
API_KEY s-s4t2ud-|s-s4t2af- H{64}
API_KEY NF- A{32}
API_KEY BBFF- A{30,34}
API_KEY outlook.office.com/webhook [\\w@/-]{40,200}
API_KEY webhook.office.com/webhookb2/ [\\w@/-]{40,200}
API_KEY sb_secret_ W{30,50}
API_KEY squ_|sqp_|sqa_ H{40}
API_KEY tskey- [a-z]{3,8}-[A-Za-z0-9]{10,24}-[A-Za-z0-9]{20,40}
API_KEY cpk_ [A-Za-z0-9._-]{60,120}
API_KEY CCIPAT_ [A-Za-z0-9_]{60,80}
API_KEY bkua_ [a-z0-9]{40}
API_KEY cio- [A-Za-z0-9]{30,50}
API_KEY rpa_ [A-Z0-9]{40,60}
API_KEY e2b_ H{40}
API_KEY pcsk_ [A-Za-z0-9_]{60,80}
API_KEY ollama- [A-Za-z0-9]{40}
API_KEY fw_ [A-Za-z0-9]{22,24}
API_KEY wandb_v1_ [A-Za-z0-9_]{70,100}
API_KEY sdk- H{8}-H{4}-H{4}-H{4}-H{12}
API_KEY api- H{8}-H{4}-H{4}-H{4}-H{12}
API_KEY access-production-|access-sandbox-|access-development- H{8}-H{4}-H{4}-H{4}-H{12}
API_KEY sub-c-|pub-c-|sec-c- [A-Za-z0-9]{8,80}(?:-[A-Za-z0-9]{4,12}){0,4}
API_KEY secret-test-|secret-live- [A-Za-z0-9_-]{20,60}
API_KEY RGAPI- H{8}-H{4}-H{4}-H{4}-H{12}
API_KEY SWMTKN-1- [a-z0-9]{50}-[a-z0-9]{25}
API_KEY NRSP- [a-z]{2}\\d{2}[A-Za-z0-9]{31}
API_KEY VF.DM. H{24}\\.[A-Za-z0-9]{16}
API_KEY cmVmdGtu [A-Za-z0-9]{50,60}
API_KEY BBDC- [A-Za-z0-9+/]{40,48}
API_KEY sonar_ [A-Za-z0-9]{40}
API_KEY test_pub_|live_pub_ H{31}
API_KEY test_ [a-f0-9]{35}
API_KEY gAAAAA [A-Za-z0-9_-]{90,1000}={0,2}
API_KEY coh_ [A-Za-z0-9]{36,44}
API_KEY airtable_ [A-Za-z0-9.]{30,100}
API_KEY p8e- [a-z0-9-]{32}
API_KEY LTAI A{12,30}
API_KEY 4b1d A{38}
API_KEY API- [A-Z0-9]{25,32}
API_KEY s. (?=[A-Za-z]*\\d[A-Za-z]*\\d)[A-Za-z0-9]{24}
API_KEY sk-or-v1- H{64}
API_KEY sk-lf-|pk-lf- H{8}-H{4}-H{4}-H{4}-H{12}
API_KEY sk-helicone- [a-z0-9-]{20,60}
OPENAI_API_KEY sk- A{32,64}
API_KEY sk_ H{48}
API_KEY pa- W{43}
API_KEY vcp_|vci_|vca_|vcr_|vck_ A{24,60}
API_KEY rzp_live_|rzp_test_ A{14}
API_KEY access_token$production$|access_token$sandbox$ [a-z0-9]{16}\\$H{32}
API_KEY re_ A{8}_A{24}
API_KEY mlsn. H{64}
API_KEY apify_api_ A{36}
GOOGLE_API_KEY 1//0 W{40,100}
AWS_SECRET_KEY amzn1.oa2-cs.v1. H{64}
API_KEY hooks.zapier.com/hooks/catch/ [A-Za-z0-9/]{10,40}
DISCORD_TOKEN discord.com/api/webhooks/|discordapp.com/api/webhooks/ \\d{16,20}/W{60,80}
API_KEY shpcs_|shptka_ [A-Fa-f0-9]{32}
API_KEY sntryi_ H{64}
API_KEY ATCTT3 [A-Za-z0-9_=-]{60,240}
API_KEY key_live_|key_test_ A{20,48}
API_KEY cs_live_|cs_test_ A{40,80}
API_KEY lin_wh_ A{40}
API_KEY 1000. H{32}\\.H{32}
`;

const LETTERS = "[A-Za-z0-9]";
const byStart = new Map<string, VendorRule[]>();

/** Rules whose beginning starts with these first two units, longest beginning first. */
export const VENDORS: ReadonlyMap<string, readonly VendorRule[]> = byStart;

/** One bit for each first pair, so that most words cost a look-up and no string. */
export const VENDOR_PAIRS = new Uint8Array(128 * 128);

for (const line of FACTS.trim().split("\n")) {
  const [type, prefixes, body] = line.split(" ");
  const pattern = body
    .replace(
      /([AWH])(?=\{)/g,
      (_, k) => k === "A" ? LETTERS : k === "W" ? "[A-Za-z0-9_-]" : "[a-f0-9]",
    );
  for (const prefix of prefixes.split("|")) {
    const escaped = prefix.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    const rule = { type, prefix, pattern: new RegExp(`${escaped}(?:${pattern})(?![A-Za-z0-9])`, "y") };
    const start = prefix.slice(0, 2);
    const list = byStart.get(start);
    if (list) list.push(rule);
    else byStart.set(start, [rule]);
    VENDOR_PAIRS[start.charCodeAt(0) * 128 + start.charCodeAt(1)] = 1;
  }
}
for (const list of byStart.values()) list.sort((a, b) => b.prefix.length - a.prefix.length);

/**
 * Names of services whose keys have no beginning of their own, as they stand in front of a key. One of these and a
 * random-looking value is a credential, where a plain word and the same value is not.
 */
export const SERVICES =
  "adafruit|adobe|airbrake|airtable|alchemy|algolia|alibaba|aliyun|amplitude|apify|apollo|artifactory|asana|atlassian|" +
  "audd|auth0|axonaut|azure|bannerbear|beamer|betterstack|bitbucket|bitcoinaverage|bittrex|blocknative|box|bscscan|" +
  "buddyns|bugsnag|buildkite|campayn|chartmogul|checkly|circleci|clearbit|clickhouse|clockify|cloudant|cloudflare|" +
  "cloudinary|codacy|codeclimate|codecov|cohere|coinapi|coinbase|coinlib|confluence|confluent|contentful|coveralls|" +
  "crowdin|currencylayer|datadog|datagov|debounce|deepgram|deepseek|deepl|digitalocean|discord|docparser|docusign|" +
  "dropbox|droneci|dynatrace|elastic|etherscan|etsy|eventbrite|facebook|fastforex|fastly|finicity|finnhub|firebase|" +
  "fixer|flickr|flutterwave|foursquare|freshbooks|freshdesk|fullstory|geocodify|github|gitlab|gitter|gocardless|" +
  "goodday|google|grafana|graphhopper|guardian|harness|hashicorp|helpscout|heroku|honeycomb|hubspot|hunter|ibm|" +
  "imagekit|infura|instagram|intercom|ipdata|ipinfo|ipify|ipstack|jenkins|jfrog|jira|jotform|jumpcloud|kraken|kucoin|" +
  "launchdarkly|linear|linkedin|linode|lob|loggly|logz|lokalise|looker|mailchimp|mailgun|mailjet|mapbox|mapquest|" +
  "mattermost|maxmind|messagebird|mixpanel|mongodb|moralis|nasdaq|netlify|newrelic|new-relic|notion|npm|nuget|" +
  "numverify|nytimes|octopus|okta|onesignal|openai|opencage|opencagedata|openweather|opsgenie|pagerduty|pandadoc|" +
  "pastebin|paypal|paystack|pendo|percy|pinata|pinecone|pipedrive|plaid|planetscale|postmark|postman|posthog|" +
  "prismic|pubnub|pushbullet|pusher|qase|quay|rapidapi|readme|recaptcha|refiner|rollbar|salesforce|scaleway|" +
  "scrapfly|scraperapi|segment|semaphore|sendbird|sendgrid|sendinblue|sentry|shodan|shopify|skrapp|slack|snyk|" +
  "softlayer|sonar|sonarqube|sourcegraph|spotify|square|squarespace|stability|statuspage|strava|stripe|sumo|" +
  "sumologic|supabase|surveybot|tatum|telegram|teamwork|terraform|thingsboard|todoist|travis|trello|twilio|twitch|" +
  "twitter|typeform|unsplash|vagrant|vault|vercel|virustotal|vultr|wakatime|wandb|weatherstack|webflow|wepay|" +
  "yandex|yelp|youtube|zapier|zendesk|zenrows|zerobounce|zoom";
