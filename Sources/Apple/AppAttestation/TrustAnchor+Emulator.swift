public import Certificates

/// The roots of the fake Apple. Everyone can sign under them, because their private keys are part of the fake
/// Apple's source.
///
/// They are fixed, so that the service and the fake Apple need no exchange and can start in any order.
extension TrustAnchor {
    /// Stands for the Apple App Attestation Root CA.
    public static let emulatedAppAttestation = pinned(emulatedAppAttestationPEM)

    /// Stands for the Apple Root CA - G3.
    public static let emulatedRootG3 = pinned(emulatedRootG3PEM)

    package static let emulatedAppAttestationPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBwDCCAWagAwIBAgIUfryXTHMYJmnguHqHkVlEY+K16+EwCgYIKoZIzj0EAwIw
        PjElMCMGA1UEAwwcRmFrZSBBcHAgQXR0ZXN0YXRpb24gUm9vdCBDQTEVMBMGA1UE
        CgwMc2l3YSBlbXVsYXRlMB4XDTIwMDEwMTAwMDAwMFoXDTQ5MTIzMTIzNTk1OVow
        PjElMCMGA1UEAwwcRmFrZSBBcHAgQXR0ZXN0YXRpb24gUm9vdCBDQTEVMBMGA1UE
        CgwMc2l3YSBlbXVsYXRlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKGL/0z25
        E60sbQKNDRa8W7CVgNmsMbs3qJ3+inHYuoRTBKf9+7nLtgQXDs6Q2wfHbCXE/glV
        wmrsMrs4FYErSKNCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYw
        HQYDVR0OBBYEFJ9BdxJGMh8Uya6HvAvxid1I39YGMAoGCCqGSM49BAMCA0gAMEUC
        IAfZIY6qb921ng2W6ErcZP6qIMam1bseuY6Agetx0WDiAiEA/u/MhxhHQFImMU8N
        CEMYoxB9rg5I4FcMRy0msuVxPTQ=
        -----END CERTIFICATE-----

        """

    package static let emulatedRootG3PEM = """
        -----BEGIN CERTIFICATE-----
        MIIBqjCCAVCgAwIBAgIUAIQ0Tqcs+y53qY1PpqNII3HEgyYwCgYIKoZIzj0EAwIw
        MzEaMBgGA1UEAwwRRmFrZSBSb290IENBIC0gRzMxFTATBgNVBAoMDHNpd2EgZW11
        bGF0ZTAeFw0yMDAxMDEwMDAwMDBaFw00OTEyMzEyMzU5NTlaMDMxGjAYBgNVBAMM
        EUZha2UgUm9vdCBDQSAtIEczMRUwEwYDVQQKDAxzaXdhIGVtdWxhdGUwWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAATfPfm0p+0YERO+49J54aNRAefd4AObyiYNRQwO
        1QcyQavolKFPDAz9Uxhre4YVxUtXkXT3VGyGS8yKiE8ac8LOo0IwQDAPBgNVHRMB
        Af8EBTADAQH/MA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUZRl+ioUIYYnY2BUm
        FLK4LQyyNzswCgYIKoZIzj0EAwIDSAAwRQIhAIzugA9qBxHzOTYZ/laczrhLRId4
        YQ5fwJa8PQFCyM7qAiBfDAyT3Rbhu1jHGyI4TyDt4EL9i7Kx54NK5RUAaHGDnA==
        -----END CERTIFICATE-----

        """
}
