package import HTTPEngine
package import OAuth

extension ClientAddress {
    /// The client as the use cases of OAuth and the console count it.
    package var requester: RequesterAddress { RequesterAddress(network: network, isVersion4: isVersion4) }
}
