#include "text/redact_table.h"

/*
 * Order matters where rows share an anchor: the first that matches names the secret. Sources: the
 * vendors' own descriptions of their token formats and the rules of public secret scanners. L is
 * the left border of a token, R the right one.
 */

#define L "(?<![A-Za-z0-9])"
#define R "(?![A-Za-z0-9_])"
/* Between a name and its value: an optional (escaped) quote, an operator, an optional quote. */
#define ASSIGN "(?:\\\\*[\"'`])?\\]?[ \\t]{0,8}(?::=|=>|=|:)[ \\t]{0,8}"
#define QUOTED "(?:\\\\*[\"'`])"
#define VALUE "(?:\\\\*[\"'`])?([^\\s\"'`\\\\,;]{4,400})"

const struct redact_row redact_rows[] = {
	{ "private-key", "-----BEGIN",
		"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: "
		"BLOCK)?-----(?=[\\s\\\\nr\"'+>|]{0,40}(?:[A-Za-z0-9+/"
		"]{12}|(?:Proc-Type|Version|Comment|Hash):))(?:[\\s\\S]{0,20000}?-----END [A-Z0-9 "
		"]{0,40}-----|[A-Za-z0-9+/=\\s\\\\]{0,20000})" },
	{ "private-key", "AGE-SECRET-KEY-1", L "AGE-SECRET-KEY-1[0-9A-Z]{50,60}" R },
	{ "private-key", "PuTTY-User-Key",
		"PuTTY-User-Key-File-[23]:[\\s\\S]{0,4000}?Private-MAC: [0-9a-f]{40,64}" },

	{ "aws-key", "AKIA ASIA ABIA ACCA", L "A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}" R },
	{ "aws-secret", "secret_access_key secretaccesskey secret-access-key",
		"(?i)secret[_-]?access[_-]?key" ASSIGN QUOTED
		"?([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])" },
	{ "gcp-key", "AIza", L "AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])" },
	{ "gcp-token", "ya29.", L "ya29\\.[0-9A-Za-z_-]{20,400}" },
	{ "gcp-secret", "GOCSPX-", L "GOCSPX-[0-9A-Za-z_-]{24,40}" },
	{ "azure-key", "AccountKey SharedAccessKey",
		"(?i)(?:Account|SharedAccess)Key[ \\t]?=[ \\t]?([A-Za-z0-9+/]{40,100}={0,2})" },
	{ "azure-secret", "7Q~ 8Q~",
		L "[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])", .back = 3 },
	{ "azure-signature", "?sig= &sig=", "[?&]sig=([A-Za-z0-9%+/]{30,200}={0,2})" },

	{ "github-token", "ghp_ gho_ ghu_ ghs_ ghr_", L "gh[pousr]_[A-Za-z0-9]{30,255}" R },
	{ "github-token", "github_pat_", L "github_pat_[A-Za-z0-9_]{40,255}" R },
	{ "gitlab-token",
		"glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- glagent- gloas- GR1348941",
		L "(?:gl(?:pat|dt|rt|ptt|cbt|ft|soat|imt|agent|oas)-|GR1348941)[0-9A-Za-z_.=-]{18,"
		  "300}" },
	{ "bitbucket-token", "ATBB ATCTT3",
		L "(?:ATBB[A-Za-z0-9]{28,40}|ATCTT3[A-Za-z0-9_=-]{60,300})" R },
	{ "atlassian-token", "ATATT3", L "ATATT3[A-Za-z0-9_=-]{60,300}" },

	{ "slack-token", "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxe- xoxe. xapp-",
		L "(?:xox[abeoprs][.-]|xapp-\\d-)[0-9A-Za-z.-]{10,400}" },
	{ "slack-webhook", "hooks.slack.com/",
		"hooks\\.slack\\.com/(?:services|workflows|triggers)/([0-9A-Za-z/_]{20,120})" },
	{ "discord-webhook", "/api/webhooks/", "/api/webhooks/\\d{15,22}/([A-Za-z0-9_-]{50,120})" },
	{ "telegram-token", ":AA", "(?<=\\d{8}):AA[0-9A-Za-z_-]{32,36}(?![0-9A-Za-z_-])" },
	{ "teams-webhook", ".webhook.office.com/",
		"\\.webhook\\.office\\.com/(?:webhookb2/)?([0-9A-Za-z@/_-]{60,300})" },

	{ "anthropic-key", "sk-ant-", L "sk-ant-[A-Za-z0-9_-]{20,300}" },
	{ "openrouter-key", "sk-or-", L "sk-or-v\\d-[0-9a-f]{40,80}" R },
	{ "openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-",
		L "sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,300}" },
	{ "openai-key", "sk-", L "sk-[A-Za-z0-9]{32,80}" R, VALUE_RANDOM },
	{ "huggingface-token", "hf_ api_org_", L "(?:hf|api_org)_[A-Za-z0-9]{30,60}" R },
	{ "groq-key", "gsk_", L "gsk_[A-Za-z0-9]{40,80}" R },
	{ "xai-key", "xai-", L "xai-[A-Za-z0-9]{60,120}" R },
	{ "perplexity-key", "pplx-", L "pplx-[A-Za-z0-9]{40,80}" R },
	{ "replicate-token", "r8_", L "r8_[A-Za-z0-9]{30,60}" R },
	{ "langsmith-key", "lsv2_", L "lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}" R },

	{ "stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_",
		L "[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}" R },
	{ "webhook-secret", "whsec_", L "whsec_[A-Za-z0-9+/]{20,100}={0,2}" },
	{ "square-token", "sq0csp- sq0atp-", L "sq0(?:csp|atp)-[0-9A-Za-z_-]{22,60}" },
	{ "shopify-token", "shpat_ shpca_ shppa_ shpss_",
		L "shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}" R },
	{ "paypal-token", "access_token$",
		"access_token\\$(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32}" },

	{ "npm-token", "npm_", L "npm_[A-Za-z0-9]{36}" R },
	{ "npm-token", "_authToken _auth",
		"_auth(?:Token)?[ \\t]?=[ \\t]?[\"']?([A-Za-z0-9_=/+-]{16,300})", VALUE_RANDOM },
	{ "pypi-token", "pypi-AgE", L "pypi-AgE[A-Za-z0-9_-]{50,400}" },
	{ "rubygems-key", "rubygems_", L "rubygems_[0-9a-f]{48}" R },
	{ "docker-token", "dckr_pat_ dckr_oat_", L "dckr_[po]at_[A-Za-z0-9_-]{20,60}" },
	{ "nuget-key", "oy2", L "oy2[a-z0-9]{43}" R },

	{ "sendgrid-key", "SG.", L "SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}" },
	{ "mailgun-key", "key-", L "key-[0-9a-f]{32}" R },
	{ "mailchimp-key", "-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9",
		"(?<=[^0-9a-f][0-9a-f]{32})-us\\d{1,2}" R },
	{ "digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", L "do[opr]_v1_[0-9a-f]{64}" R },
	{ "databricks-token", "dapi", L "dapi[0-9a-f]{32}(?:-\\d)?" R },
	{ "vault-token", "hvs. hvb. hvr.", L "hv[sbr]\\.[A-Za-z0-9_-]{20,300}" },
	{ "terraform-token", ".atlasv1.",
		"(?<=[A-Za-z0-9]{14})\\.atlasv1\\.[A-Za-z0-9=_-]{60,80}" },
	{ "grafana-token", "glsa_ glc_ey",
		L "(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_ey[A-Za-z0-9+/=]{30,400})" },
	{ "sentry-token", "sntrys_ sntryu_", L "sntry[su]_[A-Za-z0-9+/=_-]{40,300}" },
	{ "newrelic-key", "NRAK- NRJS-", L "NR(?:AK|JS)-[A-Za-z0-9]{19,40}" R },
	{ "linear-key", "lin_api_ lin_oauth_", L "lin_(?:api|oauth)_[A-Za-z0-9]{32,80}" R },
	{ "notion-token", "ntn_ secret_", L "(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})" R },
	{ "figma-token", "figd_ figo_", L "fig[do]_[A-Za-z0-9_-]{36,60}" },
	{ "supabase-key", "sbp_ sb_secret_",
		L "(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})" R },
	{ "planetscale-token", "pscale_", L "pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,80}" },
	{ "tailscale-key", "tskey-", L "tskey-[a-z]{3,10}-[A-Za-z0-9-]{16,100}" },
	{ "heroku-key", "HRKU-", L "HRKU-[A-Za-z0-9_-]{30,80}" },
	{ "doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.",
		L "dp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9._-]{30,80}" },
	{ "pulumi-token", "pul-", L "pul-[0-9a-f]{40}" R },
	{ "postman-key", "PMAK-", L "PMAK-[0-9a-f]{24}-[0-9a-f]{34}" R },
	{ "mapbox-token", "sk.eyJ", L "sk\\.eyJ[A-Za-z0-9_.-]{40,300}" },
	{ "facebook-token", "EAA", L "EAA[A-Za-z0-9]{90,300}" R },
	{ "circleci-token", "CCIPAT_", L "CCIPAT_[A-Za-z0-9_]{30,100}" R },
	{ "buildkite-token", "bkua_", L "bkua_[0-9a-f]{40}" R },
	{ "posthog-key", "phx_", L "phx_[A-Za-z0-9]{40,60}" R },
	{ "resend-key", "re_", "(?<![A-Za-z0-9_])re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}" R,
		VALUE_RANDOM },
	{ "1password-token", "ops_eyJ", L "ops_eyJ[A-Za-z0-9_=-]{60,2000}" },
	{ "jwt", "eyJ",
		L "eyJ[A-Za-z0-9_-]{8,4000}\\.eyJ[A-Za-z0-9_-]{8,8000}(?:\\.[A-Za-z0-9_-]{0,2000})"
		  "?" },

	{ "authorization", "authorization",
		"(?i)authorization" ASSIGN QUOTED
		"?(?:bearer|basic|token|bot|digest|apikey|aws4-hmac-sha256)\\s{1,4}([A-Za-z0-9._~+/"
		"=:-]{8,4000})",
		VALUE_URL },
	{ "authorization", "bearer", "(?i)bearer[ \\t]{1,4}([A-Za-z0-9._~+/-]{16,4000}={0,2})",
		VALUE_RANDOM },
	{ "cookie",
		"cookie:", "(?i)cookie:[ \\t]{0,4}[A-Za-z0-9_.-]{1,60}=([^;\\s\"'\\\\]{16,4000})",
		VALUE_RANDOM },
	{ "url-password", "://",
		"://[^\\s/:@\"'<>?#]{0,100}:([^\\s/@\"'<>]{1,200})@(?=[A-Za-z0-9\\[$])",
		VALUE_URL },
	{ "password", "curl",
		"curl\\s(?:[^\\n|;&]{0,400}?\\s)?(?:-u|--user)[ "
		"=]?[\"']?[^\\s:\"'$]{1,100}:([^\\s\"']{3,200})",
		VALUE_URL },
	{ "password", "sshpass", "sshpass[ \\t]{1,4}-p[ \\t]{0,4}[\"']?([^\\s\"']{3,200})",
		VALUE_URL },
	{ "password", "--password --passwd --pass",
		"--pass(?:word|wd)?(?:=|[ \\t]{1,4})[\"']?([^\\s\"'`-][^\\s\"'`]{3,200})",
		VALUE_PASSWORD },
	{ "password", "PASSWORD= PASSWD= _PASS=",
		"(?:PASSWORD|PASSWD|_PASS)=[\"']?([^\\s\"'`$\\\\,;]{4,400})", VALUE_URL },
	{ "password",
		"password passwd passphrase passwort motdepasse mot_de_passe db_pass _pwd pwd=",
		"(?i)(?:password|passwd|passphrase|passwort|mot_?de_?passe|db_pass|_pwd|pwd)" ASSIGN
			VALUE,
		VALUE_PASSWORD },
	{ "secret",
		"secret_key secretkey secret-key client_secret clientsecret client-secret "
		"app_secret appsecret secret",
		"(?i)(?:(?:client|app)[_-]?)?secret(?:[_-]?(?:key|token|value|id))?(?:_base)"
		"?" ASSIGN VALUE,
		VALUE_RANDOM },
	{ "api-key",
		"api_key apikey api-key access_key accesskey access-key auth_key authkey "
		"account_key encryption_key encryptionkey signing_key signingkey master_key "
		"private_key privatekey",
		"(?i)(?:api|access|auth|account|encryption|signing|master|private)[_-]?key(?:[_-]?("
		"?:id|value))?" ASSIGN VALUE,
		VALUE_RANDOM },
	{ "token", "token", "(?i)token(?:[_-]?(?:secret|value))?" ASSIGN VALUE, VALUE_RANDOM },
	{ "secret", "credential _pat= _auth=", "(?i)(?:credentials?|_pat|_auth)" ASSIGN VALUE,
		VALUE_RANDOM },
	{ NULL, NULL, NULL, VALUE_ANY, 0 }
};
