struct TestFailure: Error {
    let what: String

    init(_ what: String) {
        self.what = what
    }
}
