/// Returns when the condition holds. The suite's time limit cancels the test when it never does.
func eventually(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
