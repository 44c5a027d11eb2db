/// One check of `siwa doctor`. It changes nothing.
protocol DoctorCheck: Sendable {
    func examine() async -> [Finding]
}
