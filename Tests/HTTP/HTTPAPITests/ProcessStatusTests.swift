import Testing

@testable import HTTPAPI

@Suite struct ProcessStatusTests {
    static let units = ProcessStatus.Units(ticksPerSecond: 100, pageBytes: 4096)
    /// The name of the program is its own choice.
    static let stat =
        "4711 (a) R (b) S 1 4711 4711 0 -1 4194560 9000 0 5 0 250 125 0 0 20 0 9 0 123456 340000768 2048 "
        + "18446744073709551615 1 1 0 0 0 0 0 4096 1 0 0 0 17 1 0 0 0 0 0\n"
    static let system = "cpu  1 2 3 4\nintr 1 2\nctxt 3\nbtime 1700000000\nprocesses 4\n"
    static let limits = """
        Limit                     Soft Limit           Hard Limit           Units     
        Max cpu time              unlimited            unlimited            seconds   
        Max open files            1024                 524288               files     
        """

    @Test func `is read from what Linux says`() throws {
        let status = try #require(
            ProcessStatus(
                stat: Self.stat, system: Self.system, limits: Self.limits, openFiles: 12, units: Self.units))
        #expect(status.processorSeconds == 3.75)
        #expect(status.startedAt == 1_700_001_234.56)
        #expect(status.threads == 9)
        #expect(status.virtualBytes == 340_000_768)
        #expect(status.residentBytes == 2048 * 4096)
        #expect(status.openFiles == 12)
        #expect(status.mostFiles == 1024)
    }

    @Test(arguments: [
        ("", system, limits), ("1 (a) S 1", system, limits), (stat, "cpu 1", limits), (stat, system, ""),
    ])
    func `is nothing where that is something else`(stat: String, system: String, limits: String) {
        #expect(
            ProcessStatus(stat: stat, system: system, limits: limits, openFiles: 1, units: Self.units) == nil)
    }

    #if os(Linux)
        @Test func `is that of this process`() throws {
            let status = try #require(ProcessStatus.read())
            #expect(status.residentBytes > 1_000_000)
            #expect(status.virtualBytes >= status.residentBytes)
            #expect(status.openFiles > 2)
            #expect(status.mostFiles >= Int64(status.openFiles))
            #expect(status.threads > 0)
            #expect(status.startedAt > 1_500_000_000)
        }
    #endif
}
