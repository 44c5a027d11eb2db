package siwa.client;

import static siwa.client.PackageTests.options;
import static siwa.client.PackageTests.refusal;
import static siwa.client.Tests.check;
import static siwa.client.Tests.checkEqual;

import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import siwa.client.Models.Account;
import siwa.client.Models.CredentialState;
import siwa.client.Models.DisablingReason;
import siwa.client.Models.Erasure;
import siwa.client.Models.Event;
import siwa.client.Models.EventType;
import siwa.client.Models.Grant;
import siwa.client.Models.IntrospectionResponse;
import siwa.client.Models.Nonce;
import siwa.client.Models.SignInOutcome;

/** The life of a person in a backend, against siwa and its fakes. */
final class StoryTests {
    private static final String SIWA =
            System.getenv().getOrDefault("SIWA_BINARY", Tests.FIXTURES.resolveSibling(".build/debug/siwa").toString());
    private static final String SIWA_DEV = Path.of(SIWA).resolveSibling("siwa-dev").toString();
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private StoryTests() {}

    static void add(Map<String, Tests.Test> tests) {
        tests.put("story: a person's life", () -> inDevelopment(StoryTests::life));
        tests.put("story: tokens and links", () -> inDevelopment(StoryTests::tokensAndLinks));
        tests.put("story: forms of libraries", () -> inDevelopment(StoryTests::formsOfLibraries));
        tests.put("story: states replace missed events", () -> inDevelopment(StoryTests::missedEvents));
        tests.put("story: a feed in a thread", () -> inDevelopment(StoryTests::feedInThread));
        tests.put("story: the program of README.md", () -> inDevelopment(StoryTests::readme));
        tests.put("story: a webhook", StoryTests::webhook);
        // The last story, because it stops the siwa of all stories.
        tests.put("story: siwa stops and returns", () -> inDevelopment(StoryTests::stopsAndReturns));
    }

    // siwa and its fakes

    /** A port from which Linux opens no connections, so that it stays free until a program listens there. */
    private static int freePort() {
        while (true) {
            try (ServerSocket socket = new ServerSocket(10_000 + new SecureRandom().nextInt(20_000))) {
                return socket.getLocalPort();
            } catch (IOException isInUse) {
                // another one
            }
        }
    }

    private static Map<String, Object> post(String url, String type, String body) throws Exception {
        HttpResponse<byte[]> response = HTTP.send(HttpRequest.newBuilder(URI.create(url)).header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body)).build(), HttpResponse.BodyHandlers.ofByteArray());
        check(response.statusCode() < 300, url + ": " + response.statusCode());
        return response.body().length == 0 ? Map.of() : Vectors.object(Json.read(response.body()));
    }

    private static Map<String, Object> post(String url, Map<String, ?> members) throws Exception {
        return post(url, "application/json", Json.write(members));
    }

    /** A process that serves HTTP. */
    private static final class Program {
        final ProcessBuilder builder;
        final String readyUrl;
        Process process;

        Program(String readyUrl, Map<String, String> environment, String... arguments) throws Exception {
            this.readyUrl = readyUrl;
            builder = new ProcessBuilder(arguments).redirectErrorStream(true)
                    .redirectOutput(Files.createTempFile("siwa", ".log").toFile());
            builder.environment().keySet().removeIf(name -> name.startsWith("SIWA_"));
            builder.environment().putAll(environment);
            start();
        }

        void start() throws Exception {
            process = builder.start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            until(() -> {
                check(process.isAlive(), Files.readString(builder.redirectOutput().file().toPath()));
                try {
                    return HTTP.send(HttpRequest.newBuilder(URI.create(readyUrl)).timeout(Duration.ofSeconds(2)).build(),
                            HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
                } catch (IOException error) {
                    return false;
                }
            });
        }

        void signal(String name) throws Exception {
            checkEqual(0, new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor());
        }

        boolean isSuspended() throws Exception {
            return new String(new ProcessBuilder("ps", "-o", "state=", "-p", String.valueOf(process.pid())).start()
                    .getInputStream().readAllBytes(), StandardCharsets.US_ASCII).startsWith("T");
        }

        void stop() throws Exception {
            process.destroy();
            check(process.waitFor(30, TimeUnit.SECONDS), "the program did not stop");
            Files.delete(builder.redirectOutput().file().toPath());
        }
    }

    /** The fake Apple. */
    private static final class Apple {
        final String url;

        Apple(int port) {
            url = "http://127.0.0.1:" + port + "/emulator";
        }

        String person(Map<String, ?> members) throws Exception {
            return (String) post(url + "/users", members).get("sub");
        }

        /** What the app posts to its backend after a sign-in on the iPhone. */
        Map<String, Object> signIn(String sub, Nonce nonce) throws Exception {
            Map<String, Object> form = new LinkedHashMap<>(post(url + "/identity-tokens?format=sign-in",
                    Map.of("sub", sub, "code", true, "nonce", nonce.nonceSha256())));
            form.put("nonce", nonce.nonce());
            return form;
        }

        void revokeConsent(String sub) throws Exception {
            post(url + "/users/" + sub + "/revoke-consent", Map.of());
        }
    }

    /** {@code siwa dev}: the service, the fake Apple, the fake Google. */
    private static final class Development {
        final Path folder;
        final String url;
        final Apple apple;
        final int googlePort;
        final Program program;

        Development(Path folder) throws Exception {
            this.folder = folder;
            int port = freePort();
            int applePort = freePort();
            googlePort = freePort();
            url = "http://127.0.0.1:" + port;
            apple = new Apple(applePort);
            program = new Program(url + "/readyz", Map.of(), SIWA_DEV, "dev", "--port", "" + port, "--emulator-port",
                    "" + applePort, "--google-port", "" + googlePort, "--receiver-port", "" + freePort(), "--database",
                    "sqlite://" + folder + "/dev.sqlite");
        }
    }

    private interface Story {
        void run(Development development) throws Exception;
    }

    /** One for all stories, because a start costs more than a story. */
    private static Development development;

    private static void inDevelopment(Story story) throws Exception {
        if (development == null) {
            development = new Development(Files.createTempDirectory("stories"));
        }
        story.run(development);
    }

    static void stop() throws Exception {
        if (development != null) {
            development.program.stop();
            delete(development.folder);
        }
    }

    private static void delete(Path folder) throws Exception {
        // A feed can save its cursor at the same time.
        until(() -> Stream.of(folder.toFile().listFiles()).allMatch(File::delete) && folder.toFile().delete());
    }

    private static void until(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.call()) {
            check(System.nanoTime() < deadline, "it did not happen within 60 s");
            Thread.sleep(50);
        }
    }

    // The backend

    /** A backend with sessions, which events end. Its tables are collections. */
    private static final class Backend {
        final SiwaClient client;
        final Map<String, Instant> sessions = new ConcurrentHashMap<>();
        final List<String> events = Collections.synchronizedList(new ArrayList<>());
        final Events feed;

        Backend(SiwaClient client, Path cursorFile) {
            this.client = client;
            feed = client.events(Events.CursorStore.file(cursorFile)).longPoll(Duration.ofSeconds(2))
                    .resync(() -> events.add("resync"));
            feed.start(this::handle);
        }

        SignInOutcome signIn(Map<String, ?> form) {
            SignInOutcome outcome = client.signIn(Form.of(Json.write(form)));
            sessions.put(outcome.account().id(), outcome.credential().since().orElseThrow());
            return outcome;
        }

        private void handle(Event event) {
            events.add(event.type());
            if (List.of(EventType.CREDENTIAL_REVOKED, EventType.SESSIONS_ENDED).contains(event.type())) {
                sessions.computeIfPresent(event.accountId().orElse(""),
                        (account, since) -> since.isAfter(event.occurredAt()) ? since : null);
            }
        }
    }

    private static void life(Development siwa) throws Exception {
        SiwaClient client = options(siwa.url).build();
        Backend backend = new Backend(client, siwa.folder.resolve("life"));
        until(() -> backend.events.equals(List.of("resync")) && backend.feed.cursor().isPresent());

        // The first sign-in, on the iPhone. The nonce is good for one sign-in.
        String ada = siwa.apple.person(Map.of("first_name", "Ada", "last_name", "King", "hide_email", true));
        Map<String, Object> form = siwa.apple.signIn(ada, client.makeNonce());
        SignInOutcome outcome = backend.signIn(form);
        String accountId = outcome.account().id();
        check(outcome.isNewAccount() && outcome.account().isPrivateEmail().orElse(false), outcome);
        checkEqual(Optional.of("Ada"), outcome.account().firstName());
        Map<String, Object> again = form;
        SiwaException error = refusal(() -> client.signIn(Form.of(again)));
        checkEqual("nonce_used 401", error.code() + " " + error.statusForApp());
        check(error.requestId().isPresent(), error);
        checkEqual(CredentialState.AUTHORIZED, client.state(ada).state());
        checkEqual(CredentialState.AUTHORIZED, client.states(List.of(ada, "stranger")).get(0).state());
        checkEqual(ada, client.account(accountId).sub());
        checkEqual(accountId, client.accountOf(ada).id());
        List<Account> found = client.findAccounts(Map.of("name", "Ada King")).accounts();
        check(found.size() == 1 && found.get(0).id().equals(accountId), found);
        checkEqual(ada, client.verify(Form.of(siwa.apple.signIn(ada, client.makeNonce()))).identity().sub());

        // She stops using the app: the event ends her session.
        siwa.apple.revokeConsent(ada);
        until(() -> !backend.sessions.containsKey(accountId));
        checkEqual(CredentialState.REVOKED, client.state(ada).state());

        // She returns. Apple's times have whole seconds, and the new authorization must be later.
        Thread.sleep(2000);
        checkEqual(accountId, backend.signIn(siwa.apple.signIn(ada, client.makeNonce())).account().id());
        check(backend.sessions.containsKey(accountId), backend.sessions);

        // Her account is disabled and enabled. Then she is signed out everywhere.
        checkEqual("security", client.disable(accountId, DisablingReason.SECURITY).disabled().orElseThrow().reason());
        Map<String, Object> late = siwa.apple.signIn(ada, client.makeNonce());
        error = refusal(() -> client.signIn(Form.of(late)));
        checkEqual("403 {\"error\":\"account_disabled\"}", error.statusForApp() + " " + error.jsonForApp());
        check(client.enable(accountId).disabled().isEmpty(), "still disabled");
        check(client.signOut(accountId).sessionsEndedAt().isPresent(), "not signed out");
        until(() -> !backend.sessions.containsKey(accountId));

        // She deletes her account.
        Erasure erasure = client.delete(accountId);
        until(() -> client.erasure(erasure.id()).state().equals("completed"));
        check(client.delete(accountId).id().equals(erasure.id()) && !erasure.userMustRevoke(), erasure);
        checkEqual("account_not_found", refusal(() -> client.account(accountId)).code());
        until(() -> backend.events.contains(EventType.ACCOUNT_ERASED));
        checkEqual(List.of("resync", "account_created", "credential_authorized", "credential_revoked",
                "credential_authorized", "account_disabled", "account_enabled", "sessions_ended", "credential_revoked",
                "account_erased"), backend.events);
        checkEqual(500, refusal(() -> options(siwa.url).apiKey("other").build().makeNonce()).statusForApp());
    }

    private static String encoded(Map<String, ?> members) {
        List<String> pairs = new ArrayList<>();
        members.forEach((name, value) -> pairs.add(name + "=" + SiwaClient.encoded((String) value)));
        return String.join("&", pairs);
    }

    private static void tokensAndLinks(Development siwa) throws Exception {
        SiwaClient client = options(siwa.url).build();
        String ada = siwa.apple.person(Map.of("first_name", "Ada"));
        SignInOutcome outcome = client.signIn(Form.of(siwa.apple.signIn(ada, client.makeNonce())));
        String accountId = outcome.account().id();

        // Her phone exchanges an identity token for an access token (RFC 8693).
        Map<String, Object> form = siwa.apple.signIn(ada, client.makeNonce());
        Map<String, Object> answer = post(siwa.url + "/oauth/token", "application/x-www-form-urlencoded", encoded(Map.of(
                "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange", "client_id", "siwa-phone", "scope",
                "openid email", "subject_token_type", "urn:ietf:params:oauth:token-type:id_token", "subject_token",
                form.get("identity_token"), "nonce", form.get("nonce"))));
        String bearer = "Bearer " + answer.get("access_token");
        IntrospectionResponse token = client.verifyToken(bearer, siwa.url, List.of("email"));
        checkEqual(Optional.of(accountId), token.sub());
        IntrospectionResponse asked = client.introspect(bearer, siwa.url, List.of("email"));
        checkEqual(List.of(token.sub(), token.exp(), token.scope()), List.of(asked.sub(), asked.exp(), asked.scope()));
        checkEqual("scope_missing", refusal(() -> client.verifyToken(bearer, siwa.url, List.of("admin"))).code());
        checkEqual("audience_mismatch", refusal(() -> client.verifyToken(bearer, "https://other", List.of())).code());
        checkEqual("not_an_access_token",
                refusal(() -> client.verifyToken("Bearer " + answer.get("id_token"), siwa.url, List.of())).code());
        checkEqual("token_inactive",
                refusal(() -> client.introspect("Bearer " + answer.get("refresh_token"), siwa.url, List.of())).code());

        // Her phone attests a key.
        Map<String, Object> registration = new LinkedHashMap<>(post(siwa.apple.url + "/app-attest/keys?format=registration",
                Map.of("challenge", client.makeChallenge("attestation").challenge())));
        check(client.registerKey(Form.of(registration)).isNewKey(), "an old key");
        registration.put("key_id", Base64.getEncoder().encodeToString(new byte[32]));
        SiwaException error = refusal(() -> client.registerKey(Form.of(registration)));
        checkEqual("401 {\"error\":\"attestation_invalid\",\"cause\":\"" + error.attestationCause().orElseThrow()
                + "\",\"re_attest\":" + error.reAttest().orElseThrow() + "}", error.statusForApp() + " " + error.jsonForApp());

        // She links her Google account by App Flip, and ends the link in the app.
        String url = (String) post("http://127.0.0.1:" + siwa.googlePort + "/control/link", Map.of("mode", "app_flip")).get("url");
        Map<String, Object> link = new LinkedHashMap<>();
        for (String pair : URI.create(url).getRawQuery().split("&")) {
            String[] parts = pair.split("=", 2);
            link.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        Instant since = outcome.credential().since().orElseThrow();
        check(client.appFlipPrompt(Form.of(link), accountId, since).prompt().isPresent(), "no prompt");
        link.put("decision", "granted");
        checkEqual("code", client.appFlip(Form.of(link), accountId, since).outcome());
        Grant grant = client.grants(accountId).stream().filter(each -> each.clientId().equals("google")).findFirst().orElseThrow();
        client.endGrant(accountId, grant.id());
        checkEqual("grant_not_found", refusal(() -> client.endGrant(accountId, grant.id())).code());

        // After a withdrawn consent siwa knows at once. A verified token stays good until it expires.
        siwa.apple.revokeConsent(ada);
        until(() -> client.state(ada).state().equals(CredentialState.REVOKED));
        checkEqual("token_inactive", refusal(() -> client.introspect(bearer, siwa.url, List.of())).code());
        checkEqual(Optional.of(accountId), client.verifyToken(bearer, siwa.url, List.of()).sub());
    }

    private static void formsOfLibraries(Development siwa) throws Exception {
        SiwaClient client = options(siwa.url).build();
        String names = "\"givenName\":\"Ada\",\"familyName\":\"Lovelace\"";
        for (String shape : List.of("{\"fullName\":{" + names + ",\"middleName\":null},\"user\":\"sub\",%s}",
                "{" + names + ",\"userIdentifier\":\"sub\",\"email\":null,%s}", "{\"response\":{" + names + ",\"user\":\"sub\",%s}}")) {
            Nonce nonce = client.makeNonce();
            Map<String, Object> posted = siwa.apple.signIn(siwa.apple.person(Map.of("first_name", "X")), nonce);
            Account account = client.signIn(Form.of(String.format(shape, "\"identityToken\":\"" + posted.get("identity_token")
                    + "\",\"authorizationCode\":\"" + posted.get("authorization_code") + "\",\"nonce\":\"" + nonce.nonce()
                    + "\""))).account();
            checkEqual("Ada Lovelace", account.firstName().orElse("") + " " + account.lastName().orElse(""));
        }
    }

    private static void stopsAndReturns(Development siwa) throws Exception {
        SiwaClient client = options(siwa.url).build();
        SiwaClient hasty = options(siwa.url).timeout(Duration.ofSeconds(1)).attempts(1).build();
        Backend backend = new Backend(client, siwa.folder.resolve("stops"));
        until(() -> backend.feed.cursor().isPresent());
        String ada = siwa.apple.person(Map.of());
        backend.signIn(siwa.apple.signIn(ada, client.makeNonce()));
        until(() -> backend.events.contains(EventType.CREDENTIAL_AUTHORIZED));

        siwa.program.signal("STOP");
        until(siwa.program::isSuspended); // The signal can come later than the next request.
        long began = System.nanoTime();
        checkEqual("unreachable", refusal(hasty::makeNonce).code());
        check(System.nanoTime() - began < 10_000_000_000L, "the time limit passed");
        siwa.program.signal("CONT");
        check(!client.makeNonce().nonce().isEmpty(), "no nonce");
        siwa.program.signal("KILL");
        siwa.program.process.waitFor();
        SiwaException error = refusal(hasty::makeNonce);
        checkEqual("unreachable, no complete response from " + siwa.url
                + " (ConnectException): is siwa running, and is SIWA_URL right?", error.getMessage());
        checkEqual("unreachable 503 {\"error\":\"try_again\"}",
                error.code() + " " + error.statusForApp() + " " + error.jsonForApp());

        // The feed goes on where it was, and no event comes twice.
        siwa.program.start();
        siwa.apple.revokeConsent(ada);
        until(backend.sessions::isEmpty);
        checkEqual(1, Collections.frequency(backend.events, EventType.CREDENTIAL_AUTHORIZED));
    }

    private static void missedEvents(Development siwa) throws Exception {
        SiwaClient client = options(siwa.url).build();
        Map<String, SiwaClient.KnownUser> known = new LinkedHashMap<>();
        Map<String, SignInOutcome> outcomes = new LinkedHashMap<>();
        Instant since = Instant.parse("2026-01-02T03:04:05.678Z");
        for (String name : List.of("here", "gone", "erased", "disabled")) {
            SignInOutcome outcome = client.signIn(Form.of(siwa.apple.signIn(siwa.apple.person(Map.of()), client.makeNonce())));
            outcomes.put(name, outcome);
            known.put(outcome.account().sub(), new SiwaClient.KnownUser(name, since));
        }
        siwa.apple.revokeConsent(outcomes.get("gone").account().sub());
        Erasure erasure = client.delete(outcomes.get("erased").account().id());
        client.disable(outcomes.get("disabled").account().id(), DisablingReason.FRAUD);
        until(() -> client.state(outcomes.get("gone").account().sub()).state().equals(CredentialState.REVOKED));
        until(() -> client.erasure(erasure.id()).state().equals("completed")); // The next story lists events.
        known.put("stranger", new SiwaClient.KnownUser("stranger", since));
        known.put("guest", new SiwaClient.KnownUser("guest", null));
        List<String> events = new ArrayList<>();
        for (Event event : client.missedEvents(known)) {
            events.add(event.accountId().orElseThrow() + " " + event.type());
            if (event.type().equals(EventType.CREDENTIAL_REVOKED)) {
                // siwa knows when the consent of one ended, and nothing about the other.
                checkEqual(event.sub().equals(Optional.of("stranger")), event.occurredAt().equals(since));
            }
        }
        events.sort(null);
        checkEqual(List.of("disabled account_disabled", "erased account_enabled", "erased account_erased",
                "gone account_enabled", "gone credential_revoked", "guest account_enabled", "here account_enabled",
                "stranger account_enabled", "stranger credential_revoked"), events);
    }

    private static void feedInThread(Development siwa) throws Exception {
        SiwaClient client = options(siwa.url).build();
        client.check();
        checkEqual("caller_unauthenticated", refusal(options(siwa.url).apiKey("other").build()::check).code());
        checkEqual("client_id_unknown", refusal(options(siwa.url).clientId("com.example.other").build()::check).code());
        String elsewhere = refusal(options(siwa.apple.url.replace("/emulator", "")).build()::check).getMessage();
        check(elsewhere.startsWith("path_not_found") && elsewhere.endsWith("check SIWA_URL and SIWA_API_KEY"), elsewhere);
        options("http://127.0.0.1:" + freePort()).attempts(1).build().check(); // siwa may be away
        Path cursor = Files.writeString(siwa.folder.resolve("cursor"), " \n");
        Events feed = client.events(Events.CursorStore.file(cursor)).longPoll(Duration.ofSeconds(2));
        checkEqual("feed_not_begun 503", refusal(feed::check).code() + " " + refusal(feed::check).statusForApp());
        feed.startForWebhooks();
        until(() -> feed.cursor().isPresent());
        feed.check();
        Files.writeString(cursor, feed.cursor().orElseThrow() + "\r\n");

        List<String> handled = Collections.synchronizedList(new ArrayList<>());
        client.signIn(Form.of(siwa.apple.signIn(siwa.apple.person(Map.of()), client.makeNonce())));
        feed.start(event -> {
            handled.add(event.type());
            if (handled.size() == 1) {
                throw new IllegalStateException("the database is away");
            } else if (handled.size() == 2) {
                StoryTests.<RuntimeException>throwAsKotlin(new java.io.IOException("the database is away"));
            }
        });
        until(() -> handled.equals(
                List.of("account_created", "account_created", "account_created", "credential_authorized")));

        // A cursor that was damaged ends the feed, and the backend accepts no sign-in. The other feed still saves its own.
        AtomicInteger loads = new AtomicInteger();
        Events damaged = client.events(new Events.CursorStore() {
            @Override
            public Optional<String> load() {
                loads.incrementAndGet();
                return Optional.of("seven");
            }

            @Override
            public void save(String cursor) {
                throw new AssertionError("no page was read");
            }
        });
        checkEqual("parameter_malformed", refusal(() -> damaged.iterator().hasNext()).code());
        checkEqual("feed_not_begun", refusal(damaged::check).code());
        long before = feedThreads();
        damaged.start(event -> { });
        until(() -> loads.get() == 2 && feedThreads() <= before);
    }

    private static long feedThreads() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("siwa-events")).count();
    }

    /** Kotlin declares no exceptions, so its functions throw any of them. */
    @SuppressWarnings("unchecked") // that is the trick
    private static <T extends Exception> void throwAsKotlin(Exception error) throws T {
        throw (T) error;
    }

    private static void readme(Development siwa) throws Exception {
        String page = Files.readString(Tests.FIXTURES.resolveSibling("clients/java/README.md"));
        Files.writeString(siwa.folder.resolve("Trial.java"), page.split("```java\n")[1].split("```")[0]);
        Files.writeString(siwa.folder.resolve("cursor.txt"), "7000000"); // of another database
        ProcessBuilder trial = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), "Trial.java")
                .directory(siwa.folder.toFile()).redirectErrorStream(true);
        trial.environment().putAll(Map.of("SIWA_URL", siwa.url, "APPLE", siwa.apple.url.replace("/emulator", "")));
        Process process = trial.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        check(process.waitFor() == 0 && output.contains("siwa's feed ends before the saved cursor")
                && output.matches("(?s).*Signed in: Ada acc_.*State: revoked.*Deleted: erased\\s*"), output);
    }

    /** siwa as a service of its own, which posts its events to a receiver with the package. */
    private static void webhook() throws Exception {
        Path folder = Files.createTempDirectory("webhook");
        String[] secrets = new String[2];
        for (int index = 0; index < 2; index++) {
            byte[] key = new byte[32];
            new SecureRandom().nextBytes(key);
            secrets[index] = "whsec_" + Base64.getEncoder().encodeToString(key);
        }
        int port = freePort();
        int applePort = freePort();
        String url = "http://127.0.0.1:" + port;
        String apiKey = "siwa_of_a_test_0123456789";
        Apple apple = new Apple(applePort);
        SiwaClient client = options(url).apiKey(apiKey).webhookSecrets(String.join(" ", secrets)).build();
        BlockingQueue<Object> received = new LinkedBlockingQueue<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        receiver.createContext("/siwa", exchange -> {
            int status = 204;
            try {
                received.add(client.verifyWebhook(
                        exchange.getRequestHeaders()::getFirst, exchange.getRequestBody().readAllBytes()));
            } catch (SiwaException error) {
                received.add(error);
                status = error.statusForApp();
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        receiver.start();
        Path secretFile = Files.createFile(folder.resolve("secret"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(secretFile, secrets[1]);
        Files.writeString(folder.resolve("siwa.yaml"), "webhooks:\n  - name: backend\n    url: http://127.0.0.1:"
                + receiver.getAddress().getPort() + "/siwa\n    secret_files: [" + secretFile + "]\n");
        StringBuilder hash = new StringBuilder();
        for (byte each : MessageDigest.getInstance("SHA-256").digest(apiKey.getBytes(StandardCharsets.US_ASCII))) {
            hash.append(String.format("%02x", each));
        }
        Program fake = new Program(apple.url, Map.of(), SIWA_DEV, "emulate", "--port", "" + applePort, "--client-id",
                "com.example.app", "--signing-key-file", folder + "/AuthKey_ABC123DEFG.p8", "--notification-url",
                url + "/v1/apple/notifications");
        Program service = new Program(url + "/livez", Map.of("SIWA_ENV", "development", "SIWA_PORT", "" + port,
                "APPLE_TEAM_ID", "SIWADEV000", "APPLE_CLIENT_IDS", "com.example.app", "APPLE_BASE_URL",
                "http://127.0.0.1:" + applePort, "SIWA_CONFIG", folder + "/siwa.yaml", "DATABASE_URL",
                "sqlite://" + folder + "/siwa.sqlite", "SIWA_API_KEY_HASHES", "backend=" + hash), SIWA, "serve");
        try {
            String ada = apple.person(Map.of());
            SignInOutcome outcome = client.signIn(Form.of(apple.signIn(ada, client.makeNonce())));
            apple.revokeConsent(ada);
            for (String type : Arrays.asList("account_created", "credential_authorized", "credential_revoked")) {
                Object next = received.poll(60, TimeUnit.SECONDS);
                check(next instanceof Event && ((Event) next).type().equals(type), next);
                check(((Event) next).accountId().equals(Optional.of(outcome.account().id())), next);
            }
        } finally {
            service.stop();
            fake.stop();
            receiver.stop(0);
            delete(folder);
        }
    }
}
