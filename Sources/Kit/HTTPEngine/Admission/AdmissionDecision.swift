/// The decision of `AdmissionRule` about one request.
package enum AdmissionDecision: Equatable {
    case admit
    /// The caller can retry after this number of seconds.
    case reject(retryAfter: Int)
}
