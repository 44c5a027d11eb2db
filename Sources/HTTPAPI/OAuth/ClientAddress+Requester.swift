import HTTPEngine
import OAuth

extension ClientAddress {
    /// The client as the authentication of OAuth clients counts it.
    var requester: RequesterAddress { RequesterAddress(network: network, isVersion4: isVersion4) }
}
