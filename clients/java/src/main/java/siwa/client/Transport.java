package siwa.client;

import java.io.*;
import java.net.*;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;

/**
 * HTTP to siwa: time limits, bounds and repetitions. Follows no redirects and uses no proxies, so the key reaches only
 * siwa.
 */
final class Transport {
    static final System.Logger LOG = System.getLogger("siwa.client");
    /** Bytes of a body. siwa's longest response, a page of 1,000 events, has about 1 MB. */
    private static final int LONGEST_BODY = 4 * 1024 * 1024;
    /** Seconds. A call waits no longer for a repetition: the caller gets {@code retryAfter} in its place. */
    private static final int LONGEST_PAUSE = 5;

    /** The time and the pauses of a client. Tests replace it. */
    static class Clock {
        Instant now() { return Instant.now(); }

        void sleep(long seconds) throws InterruptedException { Thread.sleep(seconds * 1000); }

        /** Throws SiwaException {@code interrupted}. */
        final void pause(long seconds) {
            try {
                sleep(seconds);
            } catch (InterruptedException error) {
                throw interrupted();
            }
        }
    }

    /** One call, which is repeated unless {@link #once} says otherwise. */
    static final class Call {
        private final String method;
        private final String target;
        private String body = "";
        private String contentType;
        private boolean canRepeat = true;
        private boolean hasKey = true;
        private Duration timeout;
        private Integer attempts;

        Call(String method, String target) {
            this.method = method;
            this.target = target;
        }

        /** text: ASCII. */
        Call body(String type, String text) { contentType = type; body = text; return this; }

        /** A second execution would change something, so only a call that was certainly not executed is repeated. */
        Call once() { canRepeat = false; return this; }

        Call withoutKey() { hasKey = false; return this; }

        Call within(Duration limit) { timeout = limit; return this; }

        Call attempts(int most) { attempts = most; return this; }
    }

    /**
     * A body that is sent once. Java's client repeats a GET by itself after a lost response, and no option of a client
     * prevents it. Each time it asks for the length before it sends anything, so an exception here ends the repetition.
     */
    private static final class OnlyOnce implements BodyPublisher {
        private final BodyPublisher body;
        private final AtomicBoolean wasSent = new AtomicBoolean();

        OnlyOnce(String text) { body = BodyPublishers.ofString(text, StandardCharsets.US_ASCII); }

        @Override
        public long contentLength() {
            if (wasSent.getAndSet(true)) {
                throw new IllegalStateException("the response was lost");
            }
            return body.contentLength();
        }

        @Override
        public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) { body.subscribe(subscriber); }
    }

    private final HttpClient http;
    private final String url;
    private final String apiKey;
    private final Duration timeout;
    private final int attempts;
    private final Clock clock;
    private final AtomicBoolean isVersionKnown = new AtomicBoolean();

    Transport(String url, String apiKey, Duration timeout, int attempts, SSLContext tls, Clock clock) {
        String missing = (url.isEmpty() ? "SIWA_URL " : "") + (apiKey.isEmpty() ? "SIWA_API_KEY" : "");
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException("missing environment variables: " + missing.trim().replace(" ", ", "));
        }
        // These messages repeat neither the key nor the URL, which may contain a password. An accepted URL has none.
        if (!url.matches("(?i)https?://([a-z0-9.-]+|\\[[0-9a-f:.]+\\])(:[0-9]{1,5})?(/[^?#\\s]*)?")) {
            throw new IllegalArgumentException("the URL of siwa must be like https://siwa.internal: set SIWA_URL");
        }
        if (!apiKey.matches("[!-~]+")) {
            throw new IllegalArgumentException("the API key must be visible ASCII characters: set SIWA_API_KEY");
        }
        if (attempts < 1 || timeout.toMillis() < 1 || timeout.toDays() > 1) {
            throw new IllegalArgumentException("a call needs one attempt at least, and between 1 ms and a day for each");
        }
        this.url = url.replaceAll("/+$", "");
        this.apiKey = apiKey;
        this.timeout = timeout;
        this.attempts = attempts;
        this.clock = clock;
        HttpClient.Builder options = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                .proxy(HttpClient.Builder.NO_PROXY).connectTimeout(timeout);
        http = (tls == null ? options : options.sslContext(tls)).build();
    }

    /** Returns the JSON of a successful response, null without a body. Throws SiwaException. */
    Map<?, ?> send(Call call) {
        int most = call.attempts == null ? attempts : call.attempts;
        for (int attempt = 1;; attempt++) {
            try {
                return once(call);
            } catch (SiwaException error) {
                int pause = error.retryAfter().orElse(attempt);
                boolean wasExecuted = !(error.getCause() instanceof ConnectException
                        || error.getCause() instanceof HttpConnectTimeoutException
                        || error.code().equals("overloaded") || error.status().equals(Optional.of(429)));
                if (attempt >= most || !error.isTemporary() || pause > LONGEST_PAUSE || !call.canRepeat && wasExecuted) {
                    throw error;
                }
                // Without the path, which contains IDs of people.
                LOG.log(System.Logger.Level.DEBUG, "a call of siwa failed ({0}); attempt {1} follows in {2} s",
                        error.getMessage(), attempt + 1, pause);
                clock.pause(pause);
            }
        }
    }

    private Map<?, ?> once(Call call) {
        Duration limit = call.timeout == null ? timeout : call.timeout;
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + call.target)).timeout(limit)
                .method(call.method, new OnlyOnce(call.body)).header("Accept", "application/json")
                .header("User-Agent", "siwa-client-java/" + SiwaClient.VERSION);
        if (call.hasKey) {
            request.header("Authorization", "Bearer " + apiKey);
        }
        if (call.contentType != null) {
            request.header("Content-Type", call.contentType);
        }
        long deadline = System.nanoTime() + limit.toNanos();
        CompletableFuture<Boolean> isLate = new CompletableFuture<>();
        try {
            HttpResponse<InputStream> response = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream in = response.body()) {
                // The time limit of Java's client ends with the head. A closed body ends the read.
                isLate.completeOnTimeout(true, deadline - System.nanoTime(), TimeUnit.NANOSECONDS)
                        .thenAccept(late -> close(in));
                byte[] body = in.readNBytes(LONGEST_BODY + 1);
                if (!isLate.complete(false)) {
                    throw new HttpTimeoutException("the body took too long");
                }
                return result(response, body);
            }
        } catch (IOException error) {
            SiwaException unreachable = new SiwaException("unreachable", null,
                    "no complete response from " + url + " ("
                    + error.getClass().getSimpleName() + "): is siwa running, and is SIWA_URL right?");
            unreachable.initCause(error);
            throw unreachable;
        } catch (InterruptedException error) {
            throw interrupted();
        } finally {
            isLate.complete(false);
        }
    }

    private static void close(InputStream body) {
        try {
            body.close();
        } catch (IOException error) {
            // it is of no more use anyway
        }
    }

    private static SiwaException interrupted() {
        Thread.currentThread().interrupt();
        return new SiwaException("interrupted", null, "the thread was interrupted during a call");
    }

    private Map<?, ?> result(HttpResponse<?> response, byte[] body) {
        int status = response.statusCode();
        checkVersion(header(response, "Siwa-API-Version"));
        if (status == 204) {
            return null;
        }
        String type = header(response, "Content-Type").split(";")[0].trim().toLowerCase(Locale.ROOT);
        Object json = null;
        if (body.length <= LONGEST_BODY && type.matches("application/(problem\\+)?json")) {
            try {
                json = Json.read(body);
            } catch (IllegalArgumentException error) {
                // refused below
            }
        }
        Map<?, ?> value = json instanceof Map ? (Map<?, ?>) json : Map.of();
        if (status >= 200 && status < 300 && !value.isEmpty()) {
            return value;
        }
        // OAuth has "error" (RFC 6749 section 5.2).
        Object code = value.get("code") == null ? value.get("error") : value.get("code");
        Object detail = value.get("detail");
        if (status < 400 || !(code instanceof String)) {
            code = status >= 500 || status == 429 ? "unavailable" : "unexpected_response";
            detail = null;
        }
        String pause = header(response, "Retry-After");
        throw new SiwaException((String) code, status,
                detail == null ? "the response is not siwa's (" + type + ")" : String.valueOf(detail),
                response.headers().firstValue("X-Request-ID").orElse(null),
                pause.matches("[1-9][0-9]{0,8}") ? Integer.valueOf(pause) : null, value);
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    private void checkVersion(String version) {
        if (version.matches("[0-9]{1,9}") && !isVersionKnown.getAndSet(true)
                && Integer.parseInt(version) != SiwaClient.API_VERSION) {
            LOG.log(System.Logger.Level.WARNING,
                    "siwa''s interface has version {0}, and siwa-client {1} needs {2}: upgrade {3}", version,
                    SiwaClient.VERSION, SiwaClient.API_VERSION,
                    Integer.parseInt(version) > SiwaClient.API_VERSION ? "siwa-client" : "siwa");
        }
    }
}
