/**
 * Names of services whose keys have no prefix, as written before a key. With one of these, a random-looking
 * value is a credential; with an ordinary word it is not.
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
