/// One thing that `siwa doctor` looks at. It changes nothing.
protocol DoctorCheck: Sendable {
    func examine() async -> [Finding]
}
