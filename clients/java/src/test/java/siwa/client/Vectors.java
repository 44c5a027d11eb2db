package siwa.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import siwa.client.SiwaClient.SignInOption;

/** Plays one vector of Fixtures/clients, whose README.md describes the format. */
final class Vectors {
    private Vectors() {}

    /** Shows the time of the vector, and does not wait. */
    static final class VectorClock extends Transport.Clock {
        Instant time;
        List<Object> waits = new ArrayList<>();

        VectorClock(Instant at) {
            time = at;
        }

        @Override
        synchronized Instant now() {
            return time;
        }

        @Override
        synchronized void sleep(long seconds) {
            // An iterator whose request is wrong would ask for ever.
            Tests.check(waits.size() < 50, "too many pauses");
            waits.add(seconds);
            time = time.plusSeconds(seconds);
        }
    }

    /** Counts the warnings of the package. */
    static final class Warnings extends Handler {
        final AtomicInteger count = new AtomicInteger();

        @Override
        public void publish(LogRecord record) {
            if (record.getLevel().intValue() >= Level.WARNING.intValue()) {
                count.incrementAndGet();
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    /** The handler of a vector fails. */
    private static final class HandlerFailure extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object json) {
        return (Map<String, Object>) json;
    }

    @SuppressWarnings("unchecked")
    static List<Object> array(Object json) {
        return (List<Object>) json;
    }

    /** The process that plays siwa, until the tests end. */
    private static Process server;
    private static BufferedReader output;

    private static String ask(Object line) throws IOException {
        if (server == null) {
            server = new ProcessBuilder("python3", Tests.FIXTURES.resolve("clients/server.py").toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            output = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
        }
        server.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        server.getOutputStream().flush();
        return output.readLine();
    }

    /** The mistakes: empty if the client makes exactly the requests of the vector, with its results. */
    static List<String> play(Path file) throws IOException, InterruptedException {
        Map<String, Object> vector = object(Json.read(Files.readAllBytes(file)));
        List<String> mistakes = new ArrayList<>();
        int port = Integer.parseInt(ask(file));
        playSteps(vector, "http://127.0.0.1:" + port, mistakes);
        Map<String, Object> verdict = object(Json.read(ask(port)));
        array(verdict.getOrDefault("mistakes", List.of())).forEach(mistake -> mistakes.add((String) mistake));
        if (!verdict.get("verdict").equals("passed") && mistakes.isEmpty()) {
            mistakes.add("the server says " + verdict);
        }
        return mistakes;
    }

    private static void playSteps(Map<String, Object> vector, String url, List<String> mistakes)
            throws InterruptedException {
        Map<String, Object> options = object(vector.getOrDefault("client", Map.of()));
        VectorClock clock = new VectorClock(Instant.parse((String) vector.get("at")));
        Number timeout = (Number) options.getOrDefault("timeout_seconds", 12);
        SiwaClient client = SiwaClient.builder().url(url).clock(clock)
                .apiKey((String) options.getOrDefault("api_key", "siwa_development"))
                .clientId((String) options.getOrDefault("client_id", "com.example.app"))
                .issuer((String) options.getOrDefault("issuer", "https://signin.example.com"))
                .timeout(Duration.ofMillis((long) (timeout.doubleValue() * 1000)))
                .attempts(((Number) options.getOrDefault("attempts", 3)).intValue()).build();
        Logger logger = Logger.getLogger("siwa.client");
        for (Object each : array(vector.get("steps"))) {
            Map<String, Object> step = object(each);
            if (step.containsKey("at")) {
                clock.time = Instant.parse((String) step.get("at"));
            }
            clock.waits = new ArrayList<>();
            Warnings warnings = new Warnings();
            logger.addHandler(warnings);
            List<Map<String, Object>> results = Collections.synchronizedList(new ArrayList<>());
            List<Thread> threads = new ArrayList<>();
            long began = System.nanoTime();
            for (long count = (Long) step.getOrDefault("together", 1L); count > 0; count--) {
                threads.add(new Thread(() -> results.add(result(client, clock, step))));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            logger.removeHandler(warnings);
            long seconds = (System.nanoTime() - began) / 1_000_000_000;
            if (step.containsKey("within_seconds") && seconds >= ((Number) step.get("within_seconds")).longValue()) {
                mistakes.add(step.get("call") + ": it took " + seconds + " s");
            }
            String kind = step.containsKey("error") ? "error" : "returns";
            for (Map<String, Object> result : results) {
                if (!result.containsKey(kind) || !matches(step.get(kind), result.get(kind))) {
                    mistakes.add(step.get("call") + ": expected " + kind + " " + step.get(kind) + ", found " + result);
                }
            }
            if (results.size() != threads.size()) {
                mistakes.add(step.get("call") + ": a call ended with another exception than SiwaException");
            }
            if (!clock.waits.equals(step.getOrDefault("waits", List.of()))) {
                mistakes.add(step.get("call") + ": waits " + clock.waits);
            }
            if (step.containsKey("warnings") && !step.get("warnings").equals((long) warnings.count.get())) {
                mistakes.add(step.get("call") + ": warnings " + warnings.count);
            }
        }
    }

    private static Map<String, Object> result(SiwaClient client, VectorClock clock, Map<String, Object> step) {
        try {
            return Collections.singletonMap("returns",
                    plain(call(client, clock, (String) step.get("call"), object(step.get("arguments")))));
        } catch (SiwaException error) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("code", error.code());
            members.put("status", error.status().map(Integer::longValue).orElse(null));
            members.put("request_id", error.requestId().orElse(null));
            members.put("retry_after", error.retryAfter().map(Integer::longValue).orElse(null));
            members.put("cause", error.attestationCause().orElse(null));
            members.put("re_attest", error.reAttest().orElse(null));
            return Map.of("error", members);
        }
    }

    @SuppressWarnings("unchecked")
    private static Object call(SiwaClient client, VectorClock clock, String call, Map<String, Object> arguments) {
        String accountId = (String) arguments.get("account_id");
        String sub = (String) arguments.get("sub");
        SiwaClient ofApp = arguments.containsKey("client_id") ? client.forApp((String) arguments.get("client_id")) : client;
        // A form that is no object has no members, in each form that an app can post.
        Form form = arguments.get("form") instanceof Map
                ? Form.of(object(arguments.get("form"))) : Form.of(Json.write(arguments.get("form")));
        String bearer = (String) arguments.get("bearer");
        String audience = (String) arguments.get("audience");
        List<String> scopes = (List<String>) arguments.getOrDefault("scopes", List.of());
        Instant authenticatedAt = time(arguments.get("authenticated_at"));
        List<SignInOption> options = new ArrayList<>();
        if (Boolean.FALSE.equals(arguments.get("create"))) {
            options.add(SignInOption.KNOWN_USERS_ONLY);
        }
        if (Boolean.FALSE.equals(arguments.get("minted_nonce"))) {
            options.add(SignInOption.OWN_NONCE);
        }
        SignInOption[] signIn = options.toArray(new SignInOption[0]);
        switch (call) {
            case "make_nonce":
                return client.makeNonce();
            case "sign_in":
                return client.signIn(form, signIn);
            case "verify":
                return client.verify(form, signIn);
            case "web_result":
                return client.webResult((String) arguments.get("code"));
            case "account":
                return client.account(accountId);
            case "account_of":
                return ofApp.accountOf(sub);
            case "find_accounts":
                return client.findAccounts(arguments);
            case "state":
                return ofApp.state(sub);
            case "states":
                return ofApp.states((List<String>) arguments.get("subs"));
            case "disable":
                return client.disable(accountId, (String) arguments.get("reason"), time(arguments.get("until")));
            case "enable":
                return client.enable(accountId);
            case "sign_out":
                return client.signOut(accountId, Boolean.TRUE.equals(arguments.get("google")));
            case "delete":
                return client.delete(accountId);
            case "erasure":
                return client.erasure((String) arguments.get("erasure_id"));
            case "grants":
                return client.grants(accountId);
            case "end_grant":
                client.endGrant(accountId, (String) arguments.get("grant_id"));
                return null;
            case "make_challenge":
                return client.makeChallenge((String) arguments.get("purpose"));
            case "register_key":
                return client.registerKey(form);
            case "app_flip_prompt":
                return client.appFlipPrompt(form, accountId, authenticatedAt);
            case "app_flip":
                return client.appFlip(form, accountId, authenticatedAt);
            case "introspect":
                return client.introspect(bearer, audience, scopes);
            case "verify_token":
                return client.verifyToken(bearer, audience, scopes);
            case "verify_webhook":
                // The secret is an option of the client.
                SiwaClient receiver = SiwaClient.builder().url("http://unused").apiKey("unused").clock(clock)
                        .webhookSecrets((String) arguments.get("secrets")).build();
                return receiver.verifyWebhook((Map<String, String>) arguments.get("headers"), body(arguments));
            case "events":
                return trace(client, arguments);
            default:
                throw new IllegalArgumentException("the runner does not know the call " + call);
        }
    }

    private static Instant time(Object text) {
        return text == null ? null : Instant.parse((String) text);
    }

    static byte[] body(Map<String, Object> arguments) {
        StringBuilder body = new StringBuilder((String) arguments.getOrDefault("body", ""));
        for (Object part : array(arguments.getOrDefault("body_parts", List.of()))) {
            Number times = (Number) object(part).getOrDefault("times", 1);
            body.append(((String) object(part).get("text")).repeat(times.intValue()));
        }
        return body.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static List<Object> trace(SiwaClient client, Map<String, Object> arguments) {
        List<Object> trace = new ArrayList<>();
        Events events = client.events(new Events.CursorStore() {
            @Override
            public Optional<String> load() {
                trace.add("load");
                return Optional.ofNullable((String) arguments.get("cursor"));
            }

            @Override
            public void save(String cursor) {
                trace.add("save " + cursor);
            }
        });
        if (Boolean.TRUE.equals(arguments.get("resync"))) {
            events.resync(() -> trace.add("resync"));
        }
        try {
            for (Models.Event event : events) {
                if (event.id().equals(arguments.get("fail_at"))) {
                    throw new HandlerFailure();
                }
                trace.add(event.id());
                if (trace.size() >= (Long) arguments.get("take")) {
                    break;
                }
            }
        } catch (HandlerFailure failure) {
            // it reached the caller
        }
        return trace;
    }

    /** The JSON of a result by what its methods return, so that the generated models are tested too. */
    private static Object plain(Object value) {
        if (value instanceof Optional) {
            return plain(((Optional<?>) value).orElse(null));
        } else if (value instanceof Instant) {
            return Model.timeText((Instant) value);
        } else if (value instanceof List) {
            List<Object> elements = new ArrayList<>();
            ((List<?>) value).forEach(element -> elements.add(plain(element)));
            return elements;
        } else if (value instanceof Model) {
            Map<String, Object> members = new LinkedHashMap<>();
            for (Method method : value.getClass().getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers())) {
                    String name = method.getName().replaceAll("([A-Z])", "_$1").toLowerCase(java.util.Locale.ROOT);
                    try {
                        members.put(name, plain(method.invoke(value)));
                    } catch (ReflectiveOperationException error) {
                        throw new AssertionError(error);
                    }
                }
            }
            return members;
        }
        return value;
    }

    private static boolean matches(Object wanted, Object found) {
        if (wanted instanceof Map) {
            return found instanceof Map && object(wanted).entrySet().stream()
                    .allMatch(member -> matches(member.getValue(), object(found).get(member.getKey())));
        } else if (wanted instanceof List) {
            List<Object> left = array(wanted);
            List<Object> right = found instanceof List ? array(found) : Arrays.asList(new Object[left.size() + 1]);
            boolean isEqual = left.size() == right.size();
            for (int index = 0; isEqual && index < left.size(); index++) {
                isEqual = matches(left.get(index), right.get(index));
            }
            return isEqual;
        }
        return wanted == null ? found == null : wanted.equals(found);
    }
}
