/// The name of a subject or an issuer in a certificate of the fake Apple (RFC 5280 §4.1.2.4).
struct CertificateName: Sendable, Equatable {
    let commonName: String

    var item: DERItem {
        .sequence([
            .set([.sequence([.objectIdentifier("2.5.4.3"), .text(commonName)])]),
            .set([.sequence([.objectIdentifier("2.5.4.10"), .text("siwa emulate")])]),
        ])
    }
}
