/// The resources that the process uses, under the names of Prometheus' client libraries.
///
/// Read from `/proc` before each scrape. Without `/proc` there are no such metrics.
struct ProcessMetrics: Sendable {
    init(_ registry: MetricsRegistry) {
        guard let first = ProcessStatus.read() else { return }
        let cpu = registry.total(
            "process_cpu_seconds_total", help: "Processor time that was used, in user and kernel mode.")
        let resident = registry.gauge("process_resident_memory_bytes", help: "Resident memory.")
        let virtual = registry.gauge("process_virtual_memory_bytes", help: "Virtual memory.")
        let openFiles = registry.gauge("process_open_fds", help: "Open file descriptors.")
        let mostFiles = registry.gauge("process_max_fds", help: "The most file descriptors that may be open.")
        let threads = registry.gauge("process_threads", help: "Threads.")
        let start = registry.gauge("process_start_time_seconds", help: "Start, in seconds since 1970.")
        start.set(first.startedAt)
        registry.beforeReading {
            guard let status = ProcessStatus.read() else { return }
            cpu.set(status.processorSeconds)
            resident.set(status.residentBytes)
            virtual.set(status.virtualBytes)
            openFiles.set(Int64(status.openFiles))
            mostFiles.set(status.mostFiles)
            threads.set(status.threads)
        }
    }
}
