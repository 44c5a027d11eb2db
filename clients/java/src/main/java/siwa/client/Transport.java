package siwa.client;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * HTTP to siwa: time limits, bounds and repetitions. One connection for each attempt. Follows no redirects and uses no
 * proxies, so the key reaches only siwa.
 *
 * <p>Not by {@code java.net.http}, because that client repeats a GET by itself after a lost response, sends calls on
 * connections that a load balancer has dropped, and has no time limit for a body. None of this can be switched off for
 * one client.
 */
final class Transport {
    static final System.Logger LOG = System.getLogger("siwa.client");
    /** Bytes of a body. siwa's longest response, a page of 1,000 events, has about 1 MB. */
    private static final int LONGEST_BODY = 4 * 1024 * 1024;
    private static final int LONGEST_HEAD = 65_536;
    /** Seconds. A call waits no longer for a repetition: the caller gets {@code retryAfter} in its place. */
    private static final int LONGEST_PAUSE = 5;

    /** The time and the pauses of a client. Tests replace it. */
    static class Clock {
        Instant now() {
            return Instant.now();
        }

        void sleep(long seconds) throws InterruptedException {
            Thread.sleep(seconds * 1000);
        }

        /** Throws SiwaException {@code interrupted}. */
        final void pause(long seconds) {
            try {
                sleep(seconds);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new SiwaException("interrupted", null, "the thread was interrupted during a pause");
            }
        }
    }

    /** One call, which is repeated unless {@link #once} says otherwise. */
    static final class Call {
        private final String method;
        private final String target;
        private byte[] body;
        private String contentType;
        private boolean canRepeat = true;
        private boolean hasKey = true;
        private Duration timeout;
        private Integer attempts;

        Call(String method, String target) {
            this.method = method;
            this.target = target;
        }

        Call json(Map<String, ?> members) {
            return body("application/json", Json.write(members));
        }

        Call body(String type, String text) {
            contentType = type;
            body = text.getBytes(StandardCharsets.US_ASCII);
            return this;
        }

        /** A second execution would change something, so only a call that was certainly not executed is repeated. */
        Call once() {
            canRepeat = false;
            return this;
        }

        Call withoutKey() {
            hasKey = false;
            return this;
        }

        Call within(Duration limit) {
            timeout = limit;
            return this;
        }

        Call attempts(int most) {
            attempts = most;
            return this;
        }
    }

    private final URI url;
    private final String path;
    private final String apiKey;
    private final Duration timeout;
    private final int attempts;
    private final SSLSocketFactory tls;
    private final Clock clock;
    private final AtomicBoolean isVersionKnown = new AtomicBoolean();

    Transport(String url, String apiKey, Duration timeout, int attempts, SSLSocketFactory tls, Clock clock) {
        this.url = parsed(url);
        this.path = this.url.getRawPath().replaceAll("/+$", "");
        // The message does not repeat the key.
        if (!apiKey.matches("[!-~]+")) {
            throw new IllegalArgumentException("the API key must be visible ASCII characters: set SIWA_API_KEY");
        }
        if (attempts < 1 || timeout.toMillis() < 1 || timeout.toDays() > 1) {
            throw new IllegalArgumentException("a call needs one attempt at least, and between 1 ms and a day for each");
        }
        this.apiKey = apiKey;
        this.timeout = timeout;
        this.attempts = attempts;
        this.tls = tls;
        this.clock = clock;
    }

    private static URI parsed(String url) {
        try {
            URI parsed = URI.create(url);
            if (String.valueOf(parsed.getScheme()).matches("(?i)https?") && parsed.getHost() != null
                    && parsed.getRawUserInfo() == null && parsed.getRawQuery() == null && parsed.getRawFragment() == null) {
                return parsed;
            }
        } catch (IllegalArgumentException error) {
            // refused below
        }
        throw new IllegalArgumentException("the URL of siwa must be like https://siwa.internal: set SIWA_URL");
    }

    /** Returns the JSON of a successful response, null without a body. Throws SiwaException. */
    Map<?, ?> send(Call call) {
        int most = call.attempts == null ? attempts : call.attempts;
        for (int attempt = 1;; attempt++) {
            AtomicBoolean wasSent = new AtomicBoolean();
            try {
                return once(call, wasSent);
            } catch (SiwaException error) {
                int pause = error.retryAfter().orElse(attempt);
                boolean wasRefused = !wasSent.get() || error.code().equals("overloaded")
                        || error.status().equals(Optional.of(429));
                if (attempt >= most || !error.isTemporary() || pause > LONGEST_PAUSE
                        || !(call.canRepeat || wasRefused)) {
                    throw error;
                }
                // Without the path, which contains IDs of people.
                LOG.log(System.Logger.Level.DEBUG, "a call of siwa failed ({0}); attempt {1} follows in {2} s",
                        error.getMessage(), attempt + 1, pause);
                clock.pause(pause);
            }
        }
    }

    private Map<?, ?> once(Call call, AtomicBoolean wasSent) {
        long limit = (call.timeout == null ? timeout : call.timeout).toMillis();
        long began = System.nanoTime();
        CompletableFuture<Void> end = new CompletableFuture<>();
        try {
            Socket connection = connected(limit, began);
            // The time limit of a socket is for one read, so a peer that sends a byte now and then would hold the
            // caller for hours. A closed connection ends each read, write and handshake.
            end.completeOnTimeout(null, remaining(limit, began), TimeUnit.MILLISECONDS).thenRun(() -> close(connection));
            Socket secured = url.getScheme().equalsIgnoreCase("https") ? secured(connection) : connection;
            wasSent.set(true);
            secured.getOutputStream().write(request(call));
            return result(new Response(new BufferedInputStream(secured.getInputStream())));
        } catch (IOException error) {
            SiwaException unreachable = new SiwaException("unreachable", null,
                    "no complete response (" + error.getClass().getSimpleName() + ")");
            unreachable.initCause(error);
            throw unreachable;
        } finally {
            end.complete(null);
        }
    }

    /** A connection to the first address of siwa's host that accepts one. */
    private Socket connected(long limit, long began) throws IOException {
        String host = url.getHost().replaceAll("[\\[\\]]", "");
        int port = url.getPort() >= 0 ? url.getPort() : url.getScheme().equalsIgnoreCase("https") ? 443 : 80;
        IOException failure = null;
        for (InetAddress address : InetAddress.getAllByName(host)) {
            Socket socket = new Socket(Proxy.NO_PROXY);
            try {
                socket.setTcpNoDelay(true);
                socket.connect(new InetSocketAddress(address, port), (int) remaining(limit, began));
                return socket;
            } catch (IOException error) {
                close(socket);
                failure = error;
            }
        }
        throw failure;
    }

    private SSLSocket secured(Socket connection) throws IOException {
        SSLSocket secured = (SSLSocket) tls.createSocket(
                connection, url.getHost().replaceAll("[\\[\\]]", ""), connection.getPort(), true);
        // Without this, the certificate of any other host would be accepted.
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    private static long remaining(long limit, long began) {
        return Math.max(1, limit - (System.nanoTime() - began) / 1_000_000);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException error) {
            // it is of no more use anyway
        }
    }

    private byte[] request(Call call) {
        String head = call.method + " " + path + call.target + " HTTP/1.1\r\nHost: " + url.getHost()
                + (url.getPort() < 0 ? "" : ":" + url.getPort()) + "\r\nConnection: close\r\nUser-Agent: siwa-client-java/"
                + SiwaClient.VERSION + "\r\nAccept: application/json\r\n"
                + (call.hasKey ? "Authorization: Bearer " + apiKey + "\r\n" : "")
                + (call.body == null ? "" : "Content-Type: " + call.contentType + "\r\n")
                + (call.method.equals("GET") ? "" : "Content-Length: " + (call.body == null ? 0 : call.body.length) + "\r\n");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes((head + "\r\n").getBytes(StandardCharsets.US_ASCII));
        bytes.writeBytes(call.body == null ? new byte[0] : call.body);
        return bytes.toByteArray();
    }

    /** A response (RFC 9112). The constructor throws IOException unless it is complete, or longer than the bound. */
    private static final class Response {
        final Map<String, String> headers = new LinkedHashMap<>();
        final byte[] body;
        int status;
        private final InputStream in;
        private int headLeft = LONGEST_HEAD;

        Response(InputStream in) throws IOException {
            this.in = in;
            do { // also for an interim response
                String[] line = line().split(" ", 3);
                if (line.length < 2 || !line[0].matches("HTTP/1\\.[01]") || !line[1].matches("[1-5][0-9]{2}")) {
                    throw new IOException("not an HTTP response");
                }
                status = Integer.parseInt(line[1]);
                headers.clear();
                for (String field = line(); !field.isEmpty(); field = line()) {
                    int colon = field.indexOf(':');
                    if (colon < 1 || field.charAt(0) <= ' ') {
                        throw new IOException("a header is malformed");
                    }
                    String value = field.substring(colon + 1).trim();
                    String other = headers.putIfAbsent(field.substring(0, colon).toLowerCase(Locale.ROOT), value);
                    if (other != null && !other.equals(value) && field.regionMatches(true, 0, "content-length", 0, colon)) {
                        throw new IOException("two lengths");
                    }
                }
            } while (status < 200);
            body = body();
        }

        private byte[] body() throws IOException {
            String coding = headers.get("transfer-encoding");
            String length = headers.get("content-length");
            if (status == 204 || status == 304) {
                return new byte[0];
            } else if (coding != null) {
                if (!coding.equalsIgnoreCase("chunked")) {
                    throw new IOException("an unknown transfer coding");
                }
                return chunks();
            } else if (length == null) {
                return in.readNBytes(LONGEST_BODY + 1);
            }
            return exactly(number(length, 10));
        }

        private byte[] chunks() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            while (bytes.size() <= LONGEST_BODY) {
                headLeft = LONGEST_HEAD;
                int size = number(line().split("[; \t]", 2)[0], 16);
                if (size == 0) {
                    while (!line().isEmpty()) {
                        // trailers mean nothing here
                    }
                    break;
                }
                bytes.writeBytes(exactly(size));
                if (size <= LONGEST_BODY && !line().isEmpty()) {
                    throw new IOException("a chunk has another length");
                }
            }
            return bytes.toByteArray();
        }

        /** So many bytes, or one more than the bound. */
        private byte[] exactly(int count) throws IOException {
            byte[] bytes = in.readNBytes(Math.min(count, LONGEST_BODY + 1));
            if (bytes.length < Math.min(count, LONGEST_BODY + 1)) {
                throw new EOFException("half a body");
            }
            return bytes;
        }

        private static int number(String digits, int radix) throws IOException {
            if (!digits.matches(radix == 16 ? "[0-9A-Fa-f]{1,15}" : "[0-9]{1,18}")) {
                throw new IOException("a length is malformed");
            }
            return (int) Math.min(Long.parseLong(digits, radix), Integer.MAX_VALUE);
        }

        private String line() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (int next = in.read(); next != '\n'; next = in.read()) {
                if (next < 0 || --headLeft < 0) {
                    throw new EOFException("half a head, or one that is too long");
                }
                bytes.write(next);
            }
            String line = bytes.toString(StandardCharsets.ISO_8859_1);
            return line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
        }
    }

    private Map<?, ?> result(Response response) {
        checkVersion(response.headers.getOrDefault("siwa-api-version", ""));
        if (response.status == 204) {
            return null;
        }
        String type = response.headers.getOrDefault("content-type", "").split(";")[0].trim().toLowerCase(Locale.ROOT);
        Map<?, ?> value = Map.of();
        if (response.body.length <= LONGEST_BODY && type.matches("application/(problem\\+)?json")) {
            try {
                Object json = Json.read(response.body);
                value = json instanceof Map ? (Map<?, ?>) json : value;
            } catch (IllegalArgumentException error) {
                // refused below
            }
        }
        if (response.status >= 200 && response.status < 300 && !value.isEmpty()) {
            return value;
        }
        // OAuth has "error" (RFC 6749 section 5.2).
        Object code = value.get("code") == null ? value.get("error") : value.get("code");
        Object detail = value.get("detail");
        if (response.status < 400 || !(code instanceof String)) {
            code = response.status >= 500 || response.status == 429 ? "unavailable" : "unexpected_response";
            detail = null;
        }
        String retryAfter = response.headers.getOrDefault("retry-after", "");
        throw new SiwaException((String) code, response.status,
                detail == null ? "the response is not siwa's (" + type + ")" : String.valueOf(detail),
                response.headers.get("x-request-id"),
                retryAfter.matches("[1-9][0-9]{0,8}") ? Integer.valueOf(retryAfter) : null,
                value.get("cause"), value.get("re_attest"));
    }

    private void checkVersion(String version) {
        if (version.matches("[0-9]{1,9}") && !isVersionKnown.getAndSet(true)
                && Integer.parseInt(version) != SiwaClient.API_VERSION) {
            LOG.log(System.Logger.Level.WARNING, "siwa''s interface has version {0}, and siwa-client {1} needs {2}: upgrade {3}",
                    version, SiwaClient.VERSION, SiwaClient.API_VERSION,
                    Integer.parseInt(version) > SiwaClient.API_VERSION ? "siwa-client" : "siwa");
        }
    }
}
