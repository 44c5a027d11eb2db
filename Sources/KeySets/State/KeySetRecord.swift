/// The history that `KeySetHealth` reports. No decision depends on it.
struct KeySetRecord: Sendable {
    var fetches = KeySetFetchCounters()
    var lastSuccessAt: Int64?
    var lastFailureAt: Int64?
    var lastFailure: KeySetFetchError.Code?
    var snapshotFailures = 0
}
