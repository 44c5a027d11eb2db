package siwa.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All tests, without a test library, so that they also run in a bare system with Java 11. Arguments select the tests
 * whose names begin with one of them.
 */
final class Tests {
    static final Path FIXTURES = Path.of(System.getProperty("siwa.fixtures", "../../Fixtures")).toAbsolutePath().normalize();
    private static final List<String> FOLDERS =
            List.of("calls", "retries", "transport", "webhooks", "events", "tokens", "key-sets");

    /** Java forgets the settings of a logger to which nothing refers. */
    private static final Logger LOGGER = Logger.getLogger("siwa.client");

    /** A test, which fails by an exception. */
    interface Test {
        void run() throws Exception;
    }

    private static final Map<String, Test> TESTS = new LinkedHashMap<>();

    private Tests() {}

    public static void main(String[] names) throws Exception {
        LOGGER.setUseParentHandlers(false);
        addVectors();
        PackageTests.add(TESTS);
        StoryTests.add(TESTS);
        int passed = 0;
        int failed = 0;
        for (Map.Entry<String, Test> test : TESTS.entrySet()) {
            if (names.length > 0 && Stream.of(names).noneMatch(test.getKey()::startsWith)) {
                continue;
            }
            try {
                test.getValue().run();
                passed++;
            } catch (Exception | AssertionError error) {
                failed++;
                System.out.println("FAILED " + test.getKey());
                error.printStackTrace(System.out);
            }
        }
        StoryTests.stop();
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    static void check(boolean condition, Object found) {
        if (!condition) {
            throw new AssertionError(String.valueOf(found));
        }
    }

    static void checkEqual(Object wanted, Object found) {
        check(wanted.equals(found), "expected " + wanted + ", found " + found);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".json")).sorted().collect(Collectors.toList());
        }
    }

    private static void addVectors() throws IOException {
        int count = 0;
        for (String folder : FOLDERS) {
            for (Path file : files(FIXTURES.resolve("clients").resolve(folder))) {
                count++;
                TESTS.put("vector " + folder + "/" + file.getFileName(), () -> {
                    List<String> mistakes = Vectors.play(file);
                    check(mistakes.isEmpty(), mistakes);
                });
            }
        }
        int vectors = count;
        TESTS.put("there are vectors", () -> check(vectors >= 80, vectors));
        for (Path file : files(FIXTURES.resolve("webhooks"))) {
            TESTS.put("webhook " + file.getFileName(), () -> webhook(file));
        }
        TESTS.put("the runner finds mistakes", Tests::findsMistakes);
    }

    private static void webhook(Path file) throws IOException {
        Map<String, Object> webhook = Vectors.object(Json.read(Files.readAllBytes(file)));
        SiwaClient.Builder builder = SiwaClient.builder().url("http://siwa").apiKey("key")
                .clock(new Vectors.VectorClock(Instant.parse((String) webhook.get("at"))))
                .webhookSecrets((String) webhook.get("secrets"));
        if (webhook.get("verdict").equals("misconfigured")) {
            try {
                // Without a secret the client starts: it may have other uses.
                builder.build().verifyWebhook(Map.of(), new byte[0]);
            } catch (IllegalArgumentException | IllegalStateException error) {
                return;
            }
            throw new AssertionError("the secrets were accepted");
        }
        String result;
        try {
            Map<String, String> headers = new LinkedHashMap<>();
            Vectors.object(webhook.get("headers")).forEach((name, value) -> headers.put(name, (String) value));
            result = builder.build().verifyWebhook(headers, Vectors.body(webhook)).id();
        } catch (SiwaException error) {
            result = error.code();
        }
        // The bodies of two cases have a good signature, and are not events.
        String name = file.getFileName().toString();
        boolean isNoEvent = name.equals("accepted-unicode.json") || name.equals("accepted-65536-bytes.json");
        checkEqual(isNoEvent ? "event_malformed" : webhook.get(webhook.get("verdict").equals("refused") ? "code" : "id"),
                result);
    }

    /** Changes good vectors, so that a client which plays them makes a mistake in the eyes of the runner. */
    private static void findsMistakes() throws Exception {
        Map<String, String[]> changes = new LinkedHashMap<>();
        changes.put("expected PUT", new String[] {"\"method\": \"POST\"", "\"method\": \"PUT\""});
        changes.put("expected authorization", new String[] {"Bearer siwa_development", "Bearer other"});
        changes.put("expected the body", new String[] {"\"json\": {}", "\"json\": {\"a\": 1}"});
        changes.put("expected returns", new String[] {"\"returns\": {", "\"returns\": {\"nonce_sha256\": 1, \"x\": {"});
        changes.put("waits", new String[] {"\"arguments\": {}", "\"arguments\": {}, \"waits\": [1]"});
        changes.put("warnings", new String[] {"\"arguments\": {}", "\"arguments\": {}, \"warnings\": 1"});
        String good = Files.readString(FIXTURES.resolve("clients/calls/make-nonce.json"));
        Path changed = Files.createTempFile("vector", ".json");
        for (Map.Entry<String, String[]> change : changes.entrySet()) {
            String text = good.replace(change.getValue()[0], change.getValue()[1]);
            check(!text.equals(good), "the vector has no " + change.getValue()[0]);
            if (text.contains("\"x\": {")) {
                text = text.substring(0, text.lastIndexOf("\"x\": {")) + "\"y\": null}}]}";
            }
            Files.writeString(changed, text);
            List<String> mistakes = Vectors.play(changed);
            check(mistakes.stream().anyMatch(mistake -> mistake.contains(change.getKey())), change.getKey() + mistakes);
        }
        Files.delete(changed);
    }
}
