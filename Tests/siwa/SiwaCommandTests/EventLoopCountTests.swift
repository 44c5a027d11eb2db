import Testing

@testable import siwa

@Suite struct EventLoopCountTests {
    @Test(
        arguments: [
            ("Name:\tsiwa\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", 2), ("Cpus_allowed:\t8\n", 1),
            ("Cpus_allowed:\t000000ff,00000000,00000001\n", 9),
        ])
    func `counts the CPUs that the process may run on`(status: String, count: Int) {
        #expect(EventLoopCount.usableCPUs(status) == count)
    }

    @Test(arguments: [
        "", "Name:\tsiwa\nCpus_allowed_list:\t0-1\n", "Cpus_allowed:\t\n", "Cpus_allowed:\t0\n",
    ])
    func `knows nothing where the system says nothing`(status: String) {
        #expect(EventLoopCount.usableCPUs(status) == nil)
    }
}
