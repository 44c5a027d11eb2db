/// The picture and the links of a client on the pages for users.
public struct ClientAppearance: Sendable, Hashable {
    public let logo: ClientLogo?
    /// The `https` URL of the client's privacy policy, `policy_uri` of RFC 7591 §2.
    public let policyURI: String?
    /// The `https` URL of the client's terms of service, `tos_uri` of RFC 7591 §2.
    public let termsURI: String?

    public init(logo: ClientLogo? = nil, policyURI: String? = nil, termsURI: String? = nil) {
        (self.logo, self.policyURI, self.termsURI) = (logo, policyURI, termsURI)
    }
}
