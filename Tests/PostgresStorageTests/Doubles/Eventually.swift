/// Asks until the answer is yes, for as long as a lock is waited for at most. Returns the last answer.
@discardableResult
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(3)
    while ContinuousClock.now < deadline {
        if try condition() { return true }
        try await Task.sleep(for: .milliseconds(2))
    }
    return try condition()
}
