import AsyncHTTPClient
import Cryptography
import Encodings
import Logging
import ServiceLifecycle
import TraceExport

/// Exports spans until everything that makes spans has stopped.
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
