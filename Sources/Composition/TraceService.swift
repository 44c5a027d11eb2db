import AsyncHTTPClient
import Cryptography
import Encodings
import Logging
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import ServiceLifecycle
import TraceExport

/// Exports spans until all services that record spans have stopped.
struct TraceService: Service {
    private let collector: HTTPTraceCollector
    private let exporter: TraceExporter

    init(_ settings: TraceSettings, queue: SpanQueue, logger: Logger) {
        collector = HTTPTraceCollector(settings)
        exporter = TraceExporter(
            queue: queue, collector: collector,
            document: TraceDocument(
                service: settings.service, version: SiwaVersion.current,
                instance: Hexadecimal.encode(SecureRandom.bytes(count: 8))),
            logger: logger)
    }

    func run() async throws {
        try await exporter.run()
        try? await collector.client.shutdown()
    }
}

/// Exports spans over OTLP/HTTP in JSON format.
///
/// Uses its own HTTP client, so that a hanging collector does not use up connections to Apple. Does not
/// follow redirects or read response bodies; if a body is not read, its connection closes.
struct HTTPTraceCollector: TraceCollector {
    let client: HTTPClient
    private let settings: TraceSettings

    init(_ settings: TraceSettings) {
        self.settings = settings
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(2)),
            connectionPool: .init(
                idleTimeout: .seconds(10), concurrentHTTP1ConnectionsPerHostSoftLimit: 1),
            decompression: .disabled)
        configuration.connectionPool.retryConnectionEstablishment = false
        // A request that exports spans must not record a span itself.
        configuration.tracing.tracer = nil
        configuration.boundResponses()
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func post(_ document: [UInt8], within limit: Duration) async throws {
        var request = HTTPClientRequest(url: settings.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "siwa")
        for (name, value) in settings.headers.sorted(by: { $0.key < $1.key }) {
            request.headers.replaceOrAdd(name: name, value: value)
        }
        request.body = .bytes(ByteBuffer(bytes: document))
        let status: Int
        do {
            status = Int(try await client.execute(request, timeout: TimeAmount(limit)).status.code)
        } catch let error as HTTPClientError where Self.timeouts.contains(error) {
            throw TraceExportError(.timedOut)
        } catch {
            throw TraceExportError(.unreachable)
        }
        guard (200...299).contains(status) else { throw TraceExportError(.refused, status: status) }
    }

    private static let timeouts: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
        .tlsHandshakeTimeout,
    ]
}
