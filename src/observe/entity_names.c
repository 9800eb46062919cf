/*
 * What is known of names: kinds, other spellings, and words that look like names and are none.
 * Every list is sorted by bytes, since names are looked up by halving.
 */
#include "observe/entity_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

/* Names whose kind does not depend on where they are found. */
#define LIB(name, prose)                            \
	{                                           \
		name, ENTITY_LIBRARY, PROSE_##prose \
	}
#define TOOL(name, prose)                        \
	{                                        \
		name, ENTITY_TOOL, PROSE_##prose \
	}
#define SERVICE(name, prose)                        \
	{                                           \
		name, ENTITY_SERVICE, PROSE_##prose \
	}
#define LANG(name, prose)                            \
	{                                            \
		name, ENTITY_LANGUAGE, PROSE_##prose \
	}
#define FILES(name, prose)                       \
	{                                        \
		name, ENTITY_FILE, PROSE_##prose \
	}
const struct known_name known_names[] = { FILES(".env", NEVER), FILES(".env.example", NEVER),
	FILES(".eslintrc.js", NEVER), FILES(".eslintrc.json", NEVER), FILES(".gitignore", NEVER),
	FILES(".gitlab-ci.yml", NEVER), FILES(".golangci.yaml", NEVER),
	FILES(".golangci.yml", NEVER), FILES(".goreleaser.yaml", NEVER),
	FILES(".goreleaser.yml", NEVER), FILES(".mise.toml", NEVER),
	FILES(".pre-commit-config.yaml", NEVER), FILES(".prettierrc", NEVER), TOOL("act", NEVER),
	TOOL("actionlint", WORD), LIB("activerecord", WORD), LIB("actix-web", WORD),
	TOOL("afl", NEVER), FILES("agents.md", NEVER), LIB("aiohttp", WORD), TOOL("airflow", NEVER),
	SERVICE("airtable", WORD), SERVICE("akamai", NEVER), TOOL("alembic", WORD),
	FILES("alembic.ini", NEVER), SERVICE("algolia", WORD), LIB("alpine.js", WORD),
	LIB("angular", WORD), FILES("angular.json", NEVER), TOOL("ansible", WORD),
	TOOL("ant", NEVER), LIB("anyhow", WORD), TOOL("apk", NEVER), LIB("apollo-client", WORD),
	TOOL("apt", NEVER), TOOL("argocd", WORD), TOOL("artisan", NAME), TOOL("asan", NEVER),
	SERVICE("asana", WORD), TOOL("asdf", WORD), LANG("assembly", NEVER), LANG("astro", NEVER),
	LIB("asyncpg", WORD), LIB("attrs", NEVER), SERVICE("auth0", WORD), TOOL("autocannon", WORD),
	TOOL("ava", NEVER), TOOL("aws", NEVER), SERVICE("aws-lambda", WORD), LIB("axios", WORD),
	LIB("axum", WORD), TOOL("az", NEVER), SERVICE("azure", WORD), TOOL("babel", NAME),
	TOOL("bat", NEVER), LANG("batch", NEVER), TOOL("bazel", WORD), LIB("beautifulsoup4", WORD),
	TOOL("behave", NEVER), SERVICE("bigquery", WORD), TOOL("biome", WORD),
	FILES("biome.json", NEVER), SERVICE("bitbucket", WORD), TOOL("black", NEVER),
	LIB("boost", NEVER), LIB("boringssl", WORD), LIB("boto3", WORD), LIB("bubbletea", WORD),
	FILES("build.gradle", NEVER), FILES("build.gradle.kts", NEVER), FILES("build.zig", NEVER),
	TOOL("bun", NAME), TOOL("bundler", NAME), FILES("bunfig.toml", NEVER), TOOL("bunx", WORD),
	LANG("c", NEVER), LANG("c#", WORD), LANG("c++", WORD), TOOL("cabal", WORD),
	TOOL("caddy", NAME), TOOL("cargo", NAME), FILES("cargo.toml", NEVER),
	SERVICE("cassandra", WORD), TOOL("celery", NAME), LIB("chai", NAME),
	FILES("changelog.md", NEVER), TOOL("changesets", WORD), LIB("chart.js", WORD),
	TOOL("checkstyle", WORD), TOOL("chef", NEVER), LIB("chi", NEVER), LIB("chokidar", WORD),
	SERVICE("chromadb", WORD), TOOL("cibuildwheel", WORD), SERVICE("circleci", WORD),
	TOOL("clang", WORD), TOOL("clang-format", WORD), TOOL("clang-tidy", WORD),
	FILES("claude.md", NEVER), LIB("click", NEVER), SERVICE("clickhouse", WORD),
	TOOL("clippy", WORD), LANG("clojure", WORD), SERVICE("cloudflare", WORD),
	SERVICE("cloudfront", WORD), SERVICE("cloudwatch", WORD), TOOL("cmake", WORD),
	FILES("cmakelists.txt", NEVER), LIB("cmocka", WORD), LANG("cobol", WORD),
	LIB("cobra", NAME), SERVICE("cockroachdb", WORD), TOOL("cocoapods", WORD),
	TOOL("codecov", WORD), TOOL("codeql", WORD), TOOL("codesign", WORD),
	LIB("commander", NEVER), TOOL("composer", NEVER), FILES("composer.json", NEVER),
	TOOL("conda", WORD), SERVICE("confluence", WORD), FILES("conftest.py", NEVER),
	TOOL("consul", NEVER), FILES("contributing.md", NEVER), TOOL("corepack", WORD),
	SERVICE("couchdb", WORD), TOOL("coverage", NEVER), TOOL("coveralls", WORD),
	TOOL("criterion", NEVER), TOOL("cross-env", WORD), LANG("crystal", NAME), LANG("css", WORD),
	LANG("csv", NEVER), LANG("cuda", NEVER), TOOL("curl", WORD), TOOL("cypress", WORD),
	LANG("d", NEVER), LIB("d3", WORD), TOOL("dagster", NEVER), LANG("dart", NAME),
	TOOL("dash", NEVER), SERVICE("databricks", WORD), SERVICE("datadog", WORD),
	LIB("date-fns", WORD), LIB("dayjs", WORD), TOOL("dbmate", WORD), TOOL("dbt", NEVER),
	TOOL("delta", NEVER), TOOL("deno", WORD), FILES("deno.json", NEVER),
	TOOL("dependabot", WORD), FILES("dependabot.yml", NEVER), TOOL("detekt", WORD),
	LIB("devise", NAME), LIB("diesel", NAME), SERVICE("digitalocean", WORD),
	TOOL("direnv", WORD), SERVICE("discord", NAME), LIB("django", WORD), TOOL("dnf", NEVER),
	TOOL("docker", WORD), TOOL("docker-compose", WORD), FILES("docker-compose.yml", NEVER),
	FILES("dockerfile", NEVER), SERVICE("dockerhub", WORD), LIB("doctrine", WORD),
	TOOL("docusaurus", WORD), TOOL("dotnet", WORD), TOOL("doxygen", WORD),
	LIB("drizzle-orm", WORD), SERVICE("duckdb", WORD), SERVICE("dynamodb", WORD),
	SERVICE("ec2", WORD), SERVICE("ecs", WORD), SERVICE("eks", WORD),
	SERVICE("elasticsearch", WORD), LIB("electron", WORD), TOOL("electron-builder", WORD),
	TOOL("eleventy", WORD), LANG("elixir", WORD), LIB("elysia", NEVER), TOOL("emacs", NEVER),
	TOOL("envoy", NAME), LANG("erlang", WORD), TOOL("esbuild", WORD), TOOL("eslint", WORD),
	FILES("eslint.config.js", NEVER), FILES("eslint.config.mjs", NEVER), SERVICE("etcd", WORD),
	LIB("express", NAME), LANG("f#", WORD), LIB("faiss", WORD), LIB("fastapi", WORD),
	LIB("fastify", WORD), TOOL("fastlane", WORD), SERVICE("fastly", NEVER), TOOL("fd", NEVER),
	TOOL("ffmpeg", WORD), TOOL("ffprobe", WORD), LIB("fiber", NEVER), SERVICE("figma", WORD),
	SERVICE("firebase", WORD), TOOL("fish", NEVER), TOOL("flake8", WORD), LIB("flask", WORD),
	LIB("flutter", NAME), TOOL("fly", NEVER), TOOL("flyway", WORD), TOOL("fnm", WORD),
	LANG("fortran", WORD), LIB("framer-motion", WORD), TOOL("fzf", WORD), LIB("gatsby", WORD),
	TOOL("gcc", WORD), TOOL("gcloud", NEVER), SERVICE("gcp", WORD), SERVICE("gcs", WORD),
	TOOL("gdb", WORD), TOOL("gem", NEVER), FILES("gemfile", NEVER), TOOL("ghc", WORD),
	SERVICE("ghcr", WORD), LIB("gin", NEVER), TOOL("git", WORD), SERVICE("github", WORD),
	SERVICE("github-actions", WORD), TOOL("github-cli", NEVER), SERVICE("gitlab", WORD),
	TOOL("gitlab-runner", WORD), TOOL("glab", NEVER), LANG("glsl", WORD), TOOL("gnupg", WORD),
	LANG("go", NAME), FILES("go.mod", NEVER), TOOL("gofmt", WORD), TOOL("golangci-lint", WORD),
	LIB("googletest", WORD), TOOL("goose", NAME), TOOL("goreleaser", WORD), LIB("gorm", WORD),
	TOOL("gotestsum", WORD), TOOL("govulncheck", WORD), LIB("gradio", WORD),
	TOOL("gradle", WORD), TOOL("grafana", WORD), LANG("graphql", WORD), TOOL("graphviz", WORD),
	LIB("grpc", WORD), TOOL("grunt", NAME), LIB("guava", NAME), TOOL("gulp", NAME),
	TOOL("gunicorn", WORD), TOOL("hadolint", WORD), LIB("hapi", NAME), TOOL("haproxy", WORD),
	LANG("haskell", WORD), TOOL("hatch", NAME), TOOL("hatchling", WORD), LANG("hcl", NEVER),
	TOOL("helm", NAME), TOOL("heroku", NEVER), SERVICE("hetzner", WORD), LIB("hibernate", WORD),
	TOOL("homebrew", NEVER), LIB("hono", NEVER), LANG("html", WORD), LIB("htmx", WORD),
	LIB("httpx", WORD), TOOL("hub", NEVER), LIB("huggingface", WORD), TOOL("husky", NAME),
	LIB("hyper", NAME), TOOL("hyperfine", WORD), LIB("hypothesis", NEVER),
	TOOL("imagemagick", WORD), SERVICE("influxdb", WORD), LIB("ink", NEVER),
	TOOL("ipython", WORD), TOOL("isort", NEVER), TOOL("istio", WORD), LIB("jackson", NAME),
	TOOL("jacoco", WORD), SERVICE("jaeger", WORD), TOOL("jasmine", NAME), LANG("java", NAME),
	LANG("javascript", WORD), TOOL("jekyll", WORD), TOOL("jenkins", WORD),
	FILES("jenkinsfile", NEVER), TOOL("jest", NAME), FILES("jest.config.js", NEVER),
	FILES("jest.config.ts", NEVER), SERVICE("jira", WORD), TOOL("journalctl", WORD),
	TOOL("jq", WORD), LIB("jquery", WORD), LANG("json", NEVER), LIB("json-c", WORD),
	LANG("julia", NAME), LIB("junit", WORD), TOOL("jupyter", WORD), TOOL("jupyterlab", WORD),
	TOOL("just", NEVER), FILES("justfile", NEVER), TOOL("k6", WORD), SERVICE("kafka", WORD),
	TOOL("karma", NAME), LIB("keras", WORD), SERVICE("keycloak", WORD), TOOL("kibana", WORD),
	LIB("knex", WORD), TOOL("knip", NEVER), LIB("koa", NAME), LANG("kotlin", WORD),
	TOOL("ktlint", WORD), TOOL("kubectl", WORD), TOOL("kubernetes", WORD),
	TOOL("kustomize", WORD), LIB("langchain", WORD), LIB("laravel", WORD),
	TOOL("launchd", WORD), TOOL("lefthook", NEVER), TOOL("leiningen", WORD),
	TOOL("lerna", NAME), LANG("less", NEVER), LIB("libcurl", WORD), TOOL("libfuzzer", WORD),
	LIB("libmicrohttpd", WORD), LIB("libuv", WORD), FILES("license", NEVER),
	SERVICE("linode", WORD), TOOL("lint-staged", WORD), LIB("lipgloss", WORD),
	TOOL("liquibase", WORD), LANG("lisp", NAME), LIB("llamaindex", WORD), TOOL("lldb", WORD),
	SERVICE("localstack", WORD), TOOL("locust", NEVER), LIB("lodash", WORD), LIB("log4j", WORD),
	SERVICE("loki", NAME), LIB("lombok", WORD), LANG("lua", WORD), SERVICE("mailgun", WORD),
	SERVICE("mailhog", WORD), TOOL("make", NEVER), FILES("makefile", NEVER),
	FILES("manage.py", NEVER), SERVICE("mariadb", WORD), LANG("markdown", NEVER),
	LIB("matplotlib", WORD), TOOL("maven", WORD), LANG("mdx", NEVER),
	SERVICE("meilisearch", WORD), SERVICE("memcached", WORD), TOOL("meson", NAME),
	FILES("meson.build", NEVER), TOOL("mill", NEVER), TOOL("minikube", WORD),
	SERVICE("minio", WORD), TOOL("mise", NAME), FILES("mise.toml", NEVER),
	FILES("mix.exs", NEVER), SERVICE("mixpanel", WORD), TOOL("mkdocs", WORD), LIB("mobx", WORD),
	TOOL("mocha", NAME), LIB("mockito", WORD), LIB("moment.js", WORD), SERVICE("mongodb", WORD),
	LIB("mongoose", WORD), SERVICE("mssql", WORD), LIB("msw", WORD), LIB("mui", WORD),
	TOOL("mypy", WORD), SERVICE("mysql", WORD), TOOL("nano", NEVER), SERVICE("nats", NAME),
	TOOL("nbconvert", WORD), SERVICE("neo4j", WORD), LIB("nestjs", WORD),
	SERVICE("netlify", WORD), FILES("netlify.toml", NEVER), LIB("networkx", WORD),
	SERVICE("newrelic", WORD), FILES("next.config.js", NEVER), FILES("next.config.mjs", NEVER),
	FILES("next.config.ts", NEVER), LIB("next.js", WORD), TOOL("nextest", WORD),
	TOOL("nginx", WORD), LIB("ngrx", WORD), LANG("nim", NAME), TOOL("ninja", NAME),
	TOOL("nix", NAME), LIB("nltk", WORD), LIB("nock", WORD), TOOL("nodejs", WORD),
	TOOL("nodemon", WORD), LIB("nokogiri", WORD), TOOL("nom", NEVER), TOOL("notarytool", WORD),
	SERVICE("notion", NAME), TOOL("nox", WORD), TOOL("npm", WORD), TOOL("npx", WORD),
	LIB("numpy", WORD), LIB("nuxt", WORD), TOOL("nvm", WORD), TOOL("nx", WORD),
	FILES("nx.json", NEVER), LANG("objective-c", WORD), LANG("ocaml", WORD),
	LIB("okhttp", WORD), SERVICE("okta", WORD), LIB("onnxruntime", WORD),
	FILES("openapi.json", NEVER), FILES("openapi.yaml", NEVER), LIB("opencv", WORD),
	LIB("opencv-python", WORD), SERVICE("opensearch", WORD), LIB("openssl", WORD),
	SERVICE("opentelemetry", WORD), TOOL("opentofu", WORD), SERVICE("oracle", NEVER),
	TOOL("oxlint", WORD), FILES("package.json", NEVER), FILES("package.swift", NEVER),
	TOOL("packer", NAME), TOOL("pacman", NEVER), SERVICE("pagerduty", WORD),
	LIB("pandas", WORD), TOOL("pandoc", WORD), TOOL("parcel", NAME), SERVICE("paypal", WORD),
	TOOL("pdm", WORD), TOOL("perf", NEVER), LANG("perl", WORD), TOOL("pest", NAME),
	SERVICE("pgbouncer", WORD), SERVICE("pgvector", WORD), LANG("php", WORD),
	TOOL("phpstan", WORD), TOOL("phpunit", WORD), LIB("pillow", NAME),
	SERVICE("pinecone", WORD), TOOL("pip", WORD), TOOL("pipenv", WORD), TOOL("pipx", WORD),
	SERVICE("planetscale", WORD), SERVICE("plausible", NEVER), TOOL("playwright", WORD),
	FILES("playwright.config.ts", NEVER), LANG("plist", NEVER), LIB("plotly", WORD),
	TOOL("plutil", WORD), TOOL("pnpm", WORD), FILES("pnpm-workspace.yaml", NEVER),
	FILES("podfile", NEVER), TOOL("podman", WORD), TOOL("poetry", NAME), LIB("polars", WORD),
	FILES("pom.xml", NEVER), SERVICE("postgresql", WORD), SERVICE("posthog", WORD),
	TOOL("postman", NAME), LANG("powershell", WORD), TOOL("pre-commit", NEVER),
	LIB("preact", WORD), TOOL("prefect", NEVER), TOOL("prettier", WORD), LIB("prisma", WORD),
	FILES("procfile", NEVER), TOOL("prometheus", WORD), LANG("proto", NEVER),
	LANG("protobuf", WORD), TOOL("protoc", WORD), TOOL("psalm", NAME), LIB("psycopg2", WORD),
	FILES("pubspec.yaml", NEVER), SERVICE("pulsar", NAME), TOOL("pulumi", WORD),
	TOOL("puma", NAME), TOOL("puppet", NEVER), LIB("pyarrow", WORD), LIB("pydantic", WORD),
	TOOL("pyenv", WORD), TOOL("pyinstaller", WORD), TOOL("pylint", WORD), LIB("pymongo", WORD),
	FILES("pyproject.toml", NEVER), TOOL("pyright", WORD), TOOL("pytest", WORD),
	FILES("pytest.ini", NEVER), LANG("python", WORD), LIB("python-dateutil", NEVER),
	LIB("python-dotenv", WORD), LIB("pytorch", WORD), LIB("pyyaml", WORD),
	SERVICE("qdrant", WORD), LANG("r", NEVER), SERVICE("rabbitmq", WORD), LANG("racket", NAME),
	LIB("radix-ui", WORD), LIB("rails", WORD), SERVICE("railway", NEVER), TOOL("rake", NEVER),
	LIB("ratatui", WORD), LIB("rayon", WORD), TOOL("rbenv", WORD), SERVICE("rds", WORD),
	LIB("react", WORD), LIB("react-native", WORD), LIB("react-query", WORD),
	LIB("react-router", WORD), FILES("readme.md", NEVER), TOOL("rebar3", WORD),
	SERVICE("redis", WORD), LIB("redux", WORD), LIB("redux-toolkit", WORD),
	SERVICE("render", NEVER), TOOL("renovate", NAME), FILES("renovate.json", NEVER),
	LIB("requests", NEVER), FILES("requirements.txt", NEVER), LIB("reqwest", WORD),
	LIB("retrofit", NAME), LIB("rich", NEVER), TOOL("ripgrep", WORD), LIB("riverpod", WORD),
	LIB("rocket", NEVER), TOOL("rollup", WORD), TOOL("rspec", WORD), TOOL("rsync", WORD),
	TOOL("rubocop", WORD), LANG("ruby", NAME), TOOL("ruff", WORD), LANG("rust", NAME),
	FILES("rust-toolchain.toml", NEVER), TOOL("rustc", WORD), TOOL("rustfmt", WORD),
	TOOL("rustup", WORD), LIB("rxjs", WORD), TOOL("rye", NAME), SERVICE("s3", WORD),
	TOOL("salt", NEVER), LANG("sass", NEVER), TOOL("sbt", WORD), LANG("scala", WORD),
	FILES("schema.prisma", NEVER), LANG("scheme", NEVER), LIB("scikit-learn", WORD),
	LIB("scipy", WORD), TOOL("scons", NEVER), TOOL("scp", NEVER), TOOL("screen", NEVER),
	LANG("scss", WORD), SERVICE("scylladb", WORD), TOOL("selenium", WORD),
	TOOL("semgrep", WORD), SERVICE("sendgrid", WORD), LIB("sentence-transformers", WORD),
	SERVICE("sentry", WORD), LIB("sequelize", WORD), LIB("serde", WORD),
	LIB("serde_json", WORD), FILES("settings.gradle", NEVER), FILES("setup.cfg", NEVER),
	FILES("setup.py", NEVER), TOOL("setuptools", WORD), LIB("shadcn-ui", WORD),
	LANG("shell", NEVER), TOOL("shellcheck", WORD), LIB("sidekiq", WORD),
	TOOL("silversearcher", NEVER), TOOL("simctl", WORD), LIB("sinatra", WORD),
	LIB("sinon", NAME), TOOL("sips", WORD), SERVICE("slack", NAME), LIB("slf4j", WORD),
	TOOL("snap", NEVER), SERVICE("snowflake", NAME), TOOL("snowpack", WORD),
	SERVICE("sns", WORD), LIB("socket.io", WORD), LANG("solidity", NAME), LIB("solidjs", WORD),
	TOOL("sonarqube", WORD), LIB("spacy", WORD), TOOL("sphinx", NAME), TOOL("spotbugs", WORD),
	LIB("spring", NAME), LIB("spring-boot", WORD), LANG("sql", WORD), LIB("sqlalchemy", WORD),
	TOOL("sqlc", WORD), SERVICE("sqlite", WORD), LIB("sqlite-vec", WORD), LIB("sqlx", WORD),
	SERVICE("sqs", WORD), TOOL("ssh", NEVER), LIB("starlette", WORD), TOOL("starship", NEVER),
	TOOL("staticcheck", WORD), TOOL("storybook", WORD), TOOL("strace", WORD),
	LIB("streamlit", WORD), SERVICE("stripe", NAME), LIB("styled-components", WORD),
	TOOL("stylelint", WORD), SERVICE("supabase", WORD), TOOL("supertest", WORD),
	LIB("svelte", WORD), LIB("sveltekit", WORD), TOOL("swagger", NAME), TOOL("swc", WORD),
	LANG("swift", NAME), TOOL("swiftformat", WORD), TOOL("swiftlint", WORD),
	LIB("swiftui", WORD), LIB("symfony", WORD), TOOL("systemctl", WORD), TOOL("systemd", WORD),
	FILES("tailwind.config.js", NEVER), FILES("tailwind.config.ts", NEVER),
	LIB("tailwindcss", WORD), TOOL("tap", NEVER), TOOL("tarpaulin", WORD), TOOL("task", NEVER),
	FILES("taskfile.yml", NEVER), LIB("tauri", WORD), FILES("tauri.conf.json", NEVER),
	SERVICE("telegram", WORD), LIB("tensorflow", WORD), TOOL("terraform", WORD),
	LIB("testify", NAME), LIB("testing-library", WORD), LANG("tex", NEVER),
	LIB("thiserror", WORD), LIB("three.js", WORD), TOOL("tig", NEVER), LIB("tiktoken", WORD),
	SERVICE("timescaledb", WORD), TOOL("tmux", WORD), LIB("tokio", WORD), LANG("toml", NEVER),
	TOOL("tox", WORD), FILES("tox.ini", NEVER), LIB("tqdm", WORD), TOOL("traefik", WORD),
	LIB("transformers", NAME), SERVICE("travis-ci", WORD), SERVICE("trello", WORD),
	TOOL("trivy", WORD), TOOL("tsan", NEVER), FILES("tsconfig.json", NEVER),
	TOOL("tslint", WORD), TOOL("tsup", WORD), TOOL("tsx", WORD), TOOL("turbo", NEVER),
	FILES("turbo.json", NEVER), TOOL("turborepo", WORD), SERVICE("turso", WORD),
	SERVICE("twilio", WORD), TOOL("twine", NAME), TOOL("typedoc", WORD), LIB("typeorm", WORD),
	LIB("typer", WORD), LANG("typescript", WORD), SERVICE("typesense", WORD),
	LIB("uikit", WORD), TOOL("unbuild", WORD), TOOL("uv", NEVER), TOOL("uvicorn", WORD),
	TOOL("uvx", WORD), LANG("v", NEVER), TOOL("vagrant", NAME), TOOL("valgrind", WORD),
	SERVICE("valkey", WORD), TOOL("vault", NEVER), SERVICE("vercel", WORD),
	FILES("vercel.json", NEVER), TOOL("vim", NEVER), LIB("viper", NAME),
	TOOL("virtualenv", WORD), TOOL("vite", WORD), FILES("vite.config.js", NEVER),
	FILES("vite.config.ts", NEVER), TOOL("vitepress", WORD), TOOL("vitest", WORD),
	FILES("vitest.config.ts", NEVER), TOOL("volta", NAME), LIB("vue.js", WORD),
	LIB("warp", NEVER), TOOL("wasm-pack", WORD), TOOL("watchman", NEVER),
	SERVICE("weaviate", WORD), LANG("webassembly", WORD), TOOL("webpack", WORD),
	FILES("webpack.config.js", NEVER), TOOL("wget", WORD), LANG("wgsl", WORD),
	TOOL("wrangler", WORD), FILES("wrangler.toml", NEVER), TOOL("wrk", WORD),
	TOOL("xcodebuild", WORD), TOOL("xcrun", WORD), TOOL("xmake", NEVER), LANG("xml", NEVER),
	LIB("yargs", WORD), TOOL("yarn", WORD), TOOL("yum", NEVER), LANG("zig", NAME),
	SERVICE("zipkin", WORD), LIB("zlib", WORD), LIB("zod", WORD), SERVICE("zookeeper", WORD),
	LIB("zstd", WORD), LIB("zustand", WORD) };
const size_t known_names_n = ARRAY_LEN(known_names);

const struct name_pair name_aliases[] = { { "@angular/core", "angular" },
	{ "@apollo/client", "apollo-client" }, { "@babel/core", "babel" },
	{ "@biomejs/biome", "biome" }, { "@grpc/grpc-js", "grpc" }, { "@mui/material", "mui" },
	{ "@nestjs/common", "nestjs" }, { "@nestjs/core", "nestjs" },
	{ "@playwright/test", "playwright" }, { "@prisma/client", "prisma" },
	{ "@reduxjs/toolkit", "redux-toolkit" }, { "@storybook/react", "storybook" },
	{ "@swc/core", "swc" }, { "@tanstack/react-query", "react-query" },
	{ "@tauri-apps/api", "tauri" }, { "@tauri-apps/cli", "tauri" },
	{ "@testing-library/dom", "testing-library" },
	{ "@testing-library/jest-dom", "testing-library" },
	{ "@testing-library/react", "testing-library" },
	{ "@testing-library/user-event", "testing-library" }, { "@vitest/ui", "vitest" },
	{ "actix", "actix-web" }, { "ag", "silversearcher" }, { "alpinejs", "alpine.js" },
	{ "angularjs", "angular" }, { "api.github.com", "github" }, { "apt-get", "apt" },
	{ "attr", "attrs" }, { "bash", "shell" }, { "beautifulsoup", "beautifulsoup4" },
	{ "bitbucket.org", "bitbucket" }, { "brew", "homebrew" }, { "bs4", "beautifulsoup4" },
	{ "cargo-clippy", "clippy" }, { "cargo-nextest", "nextest" }, { "cc", "gcc" },
	{ "chartjs", "chart.js" }, { "clang++", "clang" }, { "clippy-driver", "clippy" },
	{ "cockroach", "cockroachdb" }, { "com.fasterxml.jackson", "jackson" },
	{ "com.google.common", "guava" }, { "compose.yaml", "docker-compose.yml" },
	{ "compose.yml", "docker-compose.yml" }, { "cpp", "c++" }, { "createdb", "postgresql" },
	{ "csharp", "c#" }, { "cv2", "opencv-python" }, { "dateutil", "python-dateutil" },
	{ "docker-compose.yaml", "docker-compose.yml" }, { "docker-hub", "dockerhub" },
	{ "docker-machine", "docker" }, { "docker.io", "docker" }, { "dockerd", "docker" },
	{ "dotenv", "python-dotenv" }, { "dynamo", "dynamodb" }, { "es", "elasticsearch" },
	{ "eslint_d", "eslint" }, { "express.js", "express" }, { "expressjs", "express" },
	{ "g++", "gcc" }, { "gh", "github-cli" }, { "gha", "github-actions" },
	{ "github.com", "github" }, { "github.com/charmbracelet/bubbletea", "bubbletea" },
	{ "github.com/charmbracelet/lipgloss", "lipgloss" }, { "github.com/gin-gonic/gin", "gin" },
	{ "github.com/spf13/cobra", "cobra" }, { "github.com/spf13/viper", "viper" },
	{ "github.com/stretchr/testify", "testify" }, { "githubactions", "github-actions" },
	{ "gitlab.com", "gitlab" }, { "gmake", "make" }, { "gmock", "googletest" },
	{ "golang", "go" }, { "golangci", "golangci-lint" }, { "google-test", "googletest" },
	{ "gorm.io/gorm", "gorm" }, { "gradlew", "gradle" }, { "grpcio", "grpc" },
	{ "gtest", "googletest" }, { "hub.docker.com", "dockerhub" },
	{ "huggingface-hub", "huggingface" }, { "ioredis", "redis" }, { "ipython3", "ipython" },
	{ "js", "javascript" }, { "k8s", "kubernetes" }, { "k8s.io/client-go", "kubernetes" },
	{ "kube", "kubernetes" }, { "llama-index", "llamaindex" }, { "md", "markdown" },
	{ "microhttpd", "libmicrohttpd" }, { "moment", "moment.js" }, { "momentjs", "moment.js" },
	{ "mongo", "mongodb" }, { "mongod", "mongodb" }, { "mongosh", "mongodb" },
	{ "mvn", "maven" }, { "mvnw", "maven" }, { "mysql-server", "mysql" },
	{ "mysqldump", "mysql" }, { "next", "next.js" }, { "nextjs", "next.js" },
	{ "node", "nodejs" }, { "node.js", "nodejs" }, { "np", "numpy" }, { "nuxt.js", "nuxt" },
	{ "nuxtjs", "nuxt" }, { "objc", "objective-c" }, { "okhttp3", "okhttp" },
	{ "org.hibernate", "hibernate" }, { "org.junit", "junit" }, { "org.mockito", "mockito" },
	{ "org.slf4j", "slf4j" }, { "org.springframework", "spring" }, { "pd", "pandas" },
	{ "pg_ctl", "postgresql" }, { "pg_dump", "postgresql" }, { "pg_isready", "postgresql" },
	{ "pg_restore", "postgresql" }, { "pil", "pillow" }, { "pip3", "pip" },
	{ "playwright-core", "playwright" }, { "plt", "matplotlib" }, { "postgres", "postgresql" },
	{ "psql", "postgresql" }, { "psycopg", "psycopg2" }, { "py", "python" },
	{ "py.test", "pytest" }, { "python2", "python" }, { "python3", "python" },
	{ "rabbit", "rabbitmq" }, { "raw.githubusercontent.com", "github" },
	{ "react-dom", "react" }, { "react-router-dom", "react-router" }, { "react.js", "react" },
	{ "reactjs", "react" }, { "redis-cli", "redis" }, { "redis-server", "redis" },
	{ "rg", "ripgrep" }, { "rubygems", "gem" }, { "s3.amazonaws.com", "s3" },
	{ "serde-derive", "serde" }, { "serde-json", "serde_json" }, { "sh", "shell" },
	{ "shellscript", "shell" }, { "sklearn", "scikit-learn" }, { "socketio", "socket.io" },
	{ "spring-boot-starter-web", "spring-boot" }, { "sqlite3", "sqlite" },
	{ "tailwind", "tailwindcss" }, { "tauri-build", "tauri" }, { "tf", "tensorflow" },
	{ "three", "three.js" }, { "threejs", "three.js" }, { "tokio-macros", "tokio" },
	{ "torch", "pytorch" }, { "ts", "typescript" }, { "tsc", "typescript" },
	{ "vue", "vue.js" }, { "vuejs", "vue.js" }, { "yaml", "pyyaml" }, { "zsh", "shell" } };
const size_t name_aliases_n = ARRAY_LEN(name_aliases);

const struct name_pair extension_languages[] = { { "astro", "astro" }, { "bash", "shell" },
	{ "c", "c" }, { "cc", "c++" }, { "cjs", "javascript" }, { "clj", "clojure" },
	{ "cob", "cobol" }, { "cpp", "c++" }, { "cs", "c#" }, { "css", "css" },
	{ "cts", "typescript" }, { "cu", "cuda" }, { "cxx", "c++" }, { "dart", "dart" },
	{ "erl", "erlang" }, { "ex", "elixir" }, { "exs", "elixir" }, { "f90", "fortran" },
	{ "fish", "shell" }, { "fs", "f#" }, { "glsl", "glsl" }, { "go", "go" },
	{ "gql", "graphql" }, { "graphql", "graphql" }, { "h", "c" }, { "hcl", "hcl" },
	{ "hh", "c++" }, { "hpp", "c++" }, { "hs", "haskell" }, { "htm", "html" },
	{ "html", "html" }, { "java", "java" }, { "jl", "julia" }, { "js", "javascript" },
	{ "jsx", "javascript" }, { "kt", "kotlin" }, { "kts", "kotlin" }, { "less", "less" },
	{ "lua", "lua" }, { "m", "objective-c" }, { "mjs", "javascript" }, { "ml", "ocaml" },
	{ "mm", "objective-c" }, { "mts", "typescript" }, { "nim", "nim" }, { "php", "php" },
	{ "pl", "perl" }, { "proto", "protobuf" }, { "ps1", "powershell" }, { "py", "python" },
	{ "pyi", "python" }, { "pyx", "python" }, { "r", "r" }, { "rb", "ruby" }, { "rs", "rust" },
	{ "sass", "sass" }, { "scala", "scala" }, { "scss", "scss" }, { "sh", "shell" },
	{ "sol", "solidity" }, { "sql", "sql" }, { "svelte", "svelte" }, { "swift", "swift" },
	{ "tex", "tex" }, { "tf", "hcl" }, { "ts", "typescript" }, { "tsx", "typescript" },
	{ "vue", "vue.js" }, { "wgsl", "wgsl" }, { "zig", "zig" }, { "zsh", "shell" } };
const size_t extension_languages_n = ARRAY_LEN(extension_languages);

static int by_name(const void *key, const void *row)
{
	return strcmp(key, *(const char *const *)row);
}

static const void *look_up(const char *name, const void *rows, size_t n, size_t size)
{
	return bsearch(name, rows, n, size, by_name);
}

const char *name_canonical(const char *name)
{
	const struct name_pair *p =
		look_up(name, name_aliases, name_aliases_n, sizeof(*name_aliases));

	return p ? p->value : name;
}

const struct known_name *name_known(const char *name)
{
	return look_up(name, known_names, known_names_n, sizeof(*known_names));
}

const char *extension_language(const char *extension)
{
	const struct name_pair *p = look_up(extension, extension_languages, extension_languages_n,
		sizeof(*extension_languages));

	return p ? p->value : NULL;
}

const char *path_language(const char *path)
{
	const char *dot = strrchr(path_base(path), '.');
	char extension[12];
	size_t n = 0;

	for (; dot && dot[n + 1] && n + 1 < sizeof(extension); n++)
		extension[n] = (char)tolower((unsigned char)dot[n + 1]);
	extension[n] = '\0';
	return n ? extension_language(extension) : NULL;
}

bool word_is_listed(enum word_list_id list, const char *word)
{
	return look_up(word, word_lists[list].words, word_lists[list].n, sizeof(char *)) != NULL;
}
