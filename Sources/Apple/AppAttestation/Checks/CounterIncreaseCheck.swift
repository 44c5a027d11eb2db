/// Refuses an assertion whose counter is not above the last counter of its key: a replay, or a late
/// assertion.
///
/// Gaps are normal, because devices count every assertion, also those that are never sent. The store must
/// raise the counter in one compare-and-set; this check alone does not stop two replays at the same time.
struct CounterIncreaseCheck: Sendable {
    let lastCounter: UInt32

    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.counter > lastCounter else {
            throw AppAttestationError(
                .counterNotIncreased, found: "\(data.counter)", expected: "more than \(lastCounter)")
        }
    }
}
