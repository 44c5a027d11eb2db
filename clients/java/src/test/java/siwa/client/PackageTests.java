package siwa.client;

import static siwa.client.Tests.check;
import static siwa.client.Tests.checkEqual;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** What the vectors do not cover: options, JSON, files, TLS, and a siwa that is slow or lies in its HTTP. */
final class PackageTests {
    private PackageTests() {}

    static void add(Map<String, Tests.Test> tests) {
        tests.put("package: a malformed option", PackageTests::malformedOptions);
        tests.put("package: strict JSON", PackageTests::strictJson);
        tests.put("package: many states are several requests", PackageTests::manyStates);
        tests.put("package: a cursor in a file", PackageTests::cursorInFile);
        tests.put("package: malformed HTTP", PackageTests::malformedHttp);
        tests.put("package: a response that never ends", PackageTests::neverEnds);
        tests.put("package: TLS", PackageTests::tls);
        tests.put("package: an interrupted pause", PackageTests::interruptedPause);
    }

    static SiwaClient.Builder options(String url) {
        return SiwaClient.builder().url(url).apiKey("siwa_development").clientId("com.example.app");
    }

    static SiwaException refusal(Tests.Test call) throws Exception {
        try {
            call.run();
        } catch (SiwaException error) {
            return error;
        }
        throw new AssertionError("the call succeeded");
    }

    private static void malformedOptions() {
        List<Consumer<SiwaClient.Builder>> changes = List.of(
                options -> options.url(""), options -> options.url("siwa.internal"), options -> options.url("ftp://siwa"),
                options -> options.url("http://user:pw@siwa"), options -> options.url("http://siwa?x=1"),
                options -> options.url("http://siwa\r\nX: y"), options -> options.apiKey(""),
                options -> options.apiKey("a b"), options -> options.apiKey("a\r\nX: y"), options -> options.apiKey("\u00e9"),
                options -> options.webhookSecrets("whsec_"), options -> options.webhookSecrets("secret"),
                options -> options.webhookSecrets("whsec_c2hvcnQ="),
                options -> options.webhookSecrets("whsec_" + "A".repeat(88)), options -> options.attempts(0),
                options -> options.timeout(Duration.ZERO));
        for (Consumer<SiwaClient.Builder> change : changes) {
            SiwaClient.Builder builder = options("http://siwa");
            change.accept(builder);
            try {
                builder.build();
            } catch (IllegalArgumentException error) {
                check(!error.getMessage().matches("(?s).*(pw|X: y|c2hvcnQ).*"), error);
                continue;
            }
            throw new AssertionError("accepted: option " + changes.indexOf(change));
        }
        Map<String, Runnable> missing = Map.of("SIWA_API_KEY", () -> options("http://siwa").apiKey("").build(),
                "SIWA_CLIENT_ID", () -> options("http://siwa").clientId("").build().state("sub"), "SIWA_WEBHOOK_SECRETS",
                () -> options("http://siwa").webhookSecrets(" ").build().verifyWebhook(Map.of(), new byte[0]));
        missing.forEach((name, call) -> {
            try {
                call.run();
            } catch (IllegalArgumentException | IllegalStateException error) {
                checkEqual("missing environment variables: " + name, error.getMessage());
                return;
            }
            throw new AssertionError("accepted without " + name);
        });
    }

    private static void strictJson() {
        String deep = "[".repeat(100) + "]".repeat(100);
        for (String text : List.of("", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "{\"a\":1,\"a\":2}", "[1 2]", "01", "1.", ".5", "+1",
                "1e", "-", "NaN", "1e999", "nul", "truex", "\"", "\"\n\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u\uff11234\"", "1 1", deep,
                "\ufeff{}", "'a'", "[1]//")) {
            try {
                throw new AssertionError(text + " was read as " + Json.read(text));
            } catch (IllegalArgumentException error) {
                // refused
            }
        }
        try {
            throw new AssertionError(Json.read(new byte[] {'"', (byte) 0xff, '"'}));
        } catch (IllegalArgumentException error) {
            // no UTF-8
        }
        String text = "{\"a\":[1,-0.5,1e3,true,false,null,{},[]],\"\\u00e9\\ud800\":\"\\\"\\\\\\u000a\\u2028\"}";
        checkEqual(text.replace("1e3", "1000.0"), Json.write(Json.read(" " + text + "\r\n\t")));
        checkEqual(Optional.of(9007199254740993L), Optional.of(Json.read("9007199254740993")));
        for (Object value : Arrays.asList(Double.NaN, new Object(), 'c')) {
            try {
                throw new AssertionError(Json.write(Map.of("a", value)));
            } catch (IllegalArgumentException error) {
                // not JSON
            }
        }
    }

    private static void manyStates() throws Exception {
        List<Integer> sizes = new ArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            Map<String, Object> request = Vectors.object(Json.read(exchange.getRequestBody().readAllBytes()));
            List<Object> states = Vectors.array(request.get("subs")).stream().map(
                    sub -> Map.of("sub", sub, "client_id", "com.example.app", "state", "notFound")).collect(Collectors.toList());
            sizes.add(states.size());
            byte[] body = Json.write(Map.of("credentials", states)).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        List<String> subs = IntStream.range(0, 2001).mapToObj(String::valueOf).collect(Collectors.toList());
        SiwaClient client = options("http://127.0.0.1:" + server.getAddress().getPort() + "/").build();
        checkEqual(subs, client.states(subs).stream().map(Models.CredentialOfSubject::sub).collect(Collectors.toList()));
        checkEqual(List.of(1000, 1000, 1), sizes);
        server.stop(0);
    }

    private static void cursorInFile() throws IOException {
        Path folder = Files.createTempDirectory("cursor");
        Events.CursorStore store = Events.CursorStore.file(folder.resolve("cursor"));
        checkEqual(Optional.empty(), store.load());
        store.save("c1-and-more");
        store.save("c2");
        checkEqual(Optional.of("c2"), Events.CursorStore.file(folder.resolve("cursor")).load());
        checkEqual(1, folder.toFile().list().length);
        Files.delete(folder.resolve("cursor"));
        Files.delete(folder);
    }

    /** Answers each connection with these bytes, after a request. With null it stays silent. */
    private static ServerSocket answering(String bytes, boolean keepsOpen) throws IOException {
        ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> {
            List<Socket> open = new ArrayList<>();
            while (true) {
                try {
                    Socket connection = listener.accept();
                    open.add(connection);
                    if (bytes != null) {
                        InputStream in = connection.getInputStream();
                        for (String head = ""; !head.endsWith("\r\n\r\n");) {
                            int next = in.read();
                            if (next < 0) {
                                throw new EOFException("the client does not speak HTTP");
                            }
                            head += (char) next;
                        }
                        OutputStream out = connection.getOutputStream();
                        do {
                            out.write(bytes.getBytes(StandardCharsets.ISO_8859_1));
                        } while (keepsOpen);
                        connection.close();
                    }
                } catch (IOException error) {
                    if (listener.isClosed()) {
                        return;
                    }
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return listener;
    }

    private static final String ERASURE = "{\"error\":\"erasure_not_found\"}";

    private static String codeAfter(String response) throws Exception {
        try (ServerSocket server = answering(response.replace("\n", "\r\n"), false)) {
            SiwaClient client = options("http://127.0.0.1:" + server.getLocalPort()).attempts(1)
                    .timeout(Duration.ofMinutes(1)).build();
            return refusal(() -> client.erasure("e")).code();
        }
    }

    private static void malformedHttp() throws Exception {
        String head = "HTTP/1.1 404 Not Found\nContent-Type: application/json\n";
        // Without a length, the end of the connection is the end of the body.
        for (String good : List.of(head + "\n" + ERASURE, head + "Content-Length: 29\n\n" + ERASURE,
                head.replace("1.1", "1.0") + "\n" + ERASURE, head + "Transfer-Encoding: chunked\n\n1d\n" + ERASURE + "\n0\n\n",
                head.toUpperCase(java.util.Locale.ROOT) + "content-length:29\t\n\n" + ERASURE)) {
            checkEqual("erasure_not_found", codeAfter(good));
        }
        for (String bad : List.of("", "HTTP/1.1 404", "HTTP/2 404 x\n\n" + ERASURE, "<html>\n\n",
                head + "Content-Length: 99\n\n" + ERASURE, head + "Transfer-Encoding: chunked\n\nx\n",
                head + "Transfer-Encoding: chunked\n\n1d\n" + ERASURE)) {
            checkEqual("unreachable", codeAfter(bad));
        }
    }

    private static void neverEnds() throws Exception {
        for (String bytes : Arrays.asList(null, "HTTP/1.1 103 Early Hints\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + "x: y\r\n".repeat(9) + "\r\n")) {
            for (String scheme : List.of("http", "https")) {
                try (ServerSocket server = answering(bytes, true)) {
                    SiwaClient client = options(scheme + "://127.0.0.1:" + server.getLocalPort()).attempts(1)
                            .timeout(Duration.ofMillis(500)).build();
                    long began = System.nanoTime();
                    String code = refusal(client::makeNonce).code();
                    check(code.equals("unreachable") || code.equals("unexpected_response"), code);
                    check(System.nanoTime() - began < 10_000_000_000L, "the time limit passed: " + bytes);
                }
            }
        }
    }

    private static void tls() throws Exception {
        Path folder = Files.createTempDirectory("tls");
        String store = folder.resolve("store").toString();
        Process keytool = new ProcessBuilder(System.getProperty("java.home") + "/bin/keytool", "-J-XX:TieredStopAtLevel=1",
                "-genkeypair", "-keyalg", "EC", "-alias", "siwa", "-dname", "CN=localhost", "-ext", "san=dns:localhost",
                "-keystore", store, "-storetype", "PKCS12", "-storepass", "password").redirectErrorStream(true).start();
        keytool.getInputStream().readAllBytes();
        checkEqual(0, keytool.waitFor());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(Path.of(store))) {
            keys.load(in, "password".toCharArray());
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance("SunX509");
        own.init(keys, "password".toCharArray());
        // An entry with a private key is no authority, so the certificate gets an entry of its own.
        KeyStore authorities = KeyStore.getInstance("PKCS12");
        authorities.load(null, null);
        authorities.setCertificateEntry("siwa", keys.getCertificate("siwa"));
        TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
        trusted.init(authorities);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        List<String> requests = new ArrayList<>();
        server.createContext("/siwa/v1/erasures/", exchange -> {
            requests.add(exchange.getRequestHeaders().getFirst("Host") + exchange.getRequestURI());
            exchange.getResponseHeaders().set("Content-Type", "application/problem+json");
            exchange.sendResponseHeaders(404, 0);
            exchange.getResponseBody().write("{\"code\":\"erasure_not_found\"}".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        server.start();
        int port = server.getAddress().getPort();
        SiwaClient client = options("https://localhost:" + port + "/siwa/").sslContext(context)
                .timeout(Duration.ofMinutes(1)).build();
        checkEqual("erasure_not_found", refusal(() -> client.erasure("a b")).code());
        checkEqual(List.of("localhost:" + port + "/siwa/v1/erasures/a%20b"), requests);
        // The certificate is of another host, or of an unknown authority: no request leaves the backend.
        for (SiwaClient.Builder wrong : List.of(options("https://127.0.0.1:" + port + "/siwa").sslContext(context),
                options("https://localhost:" + port + "/siwa"))) {
            SiwaException error = refusal(() -> wrong.timeout(Duration.ofMinutes(1)).attempts(1).build().erasure("a"));
            checkEqual("unreachable", error.code());
        }
        checkEqual(1, requests.size());
        server.stop(0);
        Files.delete(Path.of(store));
        Files.delete(folder);
    }

    private static void interruptedPause() throws Exception {
        ServerSocket unused = new ServerSocket(0);
        SiwaClient client = options("http://127.0.0.1:" + unused.getLocalPort()).build();
        unused.close();
        for (Tests.Test call : List.<Tests.Test>of(client::makeNonce, () -> client.events(new Events.CursorStore() {
            @Override
            public Optional<String> load() {
                return Optional.of("c1");
            }

            @Override
            public void save(String cursor) {
                throw new AssertionError("no page was read");
            }
        }).iterator().next())) {
            Thread.currentThread().interrupt();
            checkEqual("interrupted", refusal(call).code());
            check(Thread.interrupted(), "the thread is no longer interrupted");
        }
    }
}
