import AppleAccounts
import AuthorizationServer
import EventDelivery
import HTTPEngine
import OAuth
import SignIn
import StrictJSON

/// The public documents about this server.
extension Endpoint {
    static let getKeySet = Endpoint(
        "getKeySet", .get, "/oauth/jwks.json", of: \.oauth?.keySet, caller: .anyone, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth, origins: .readers,
        Operation(
            .oauth, "The keys that verify the tokens of this service (RFC 7517).",
            returns: [
                .keySet
            ])
    ) { family, _ in family.keySet() }

    /// The key set of `getKeySet`, at a path that exists even without OAuth clients. Receivers use it to
    /// verify security event tokens.
    static let getEventKeySet = Endpoint(
        "getEventKeySet", .get, "/v1/jwks.json", of: \.keySet, caller: .anyone, body: .none,
        errors: .problem, priority: .ordinary,
        Operation(
            .events, "The keys that verify security event tokens (RFC 7517).",
            text:
                "The same set as `/oauth/jwks.json`, also without OAuth clients. 404 where the service signs nothing.",
            returns: [
                .keySet
            ])
    ) { family, _ in family.keySet() }

    static let getServerMetadata = Endpoint(
        "getServerMetadata", .get, "/.well-known/oauth-authorization-server", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        origins: .readers,
        Operation(
            .oauth, "The metadata of the authorization server (RFC 8414).",
            returns: [
                .metadata
            ])
    ) { family, _ in family.metadata() }

    static let getOpenIDConfiguration = Endpoint(
        "getOpenIDConfiguration", .get, "/.well-known/openid-configuration", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        origins: .readers,
        Operation(
            .oauth, "The same metadata, for OpenID Connect.",
            returns: [
                .metadata
            ])
    ) { family, _ in family.metadata() }

    static let getRISCConfiguration = Endpoint(
        "getRISCConfiguration", .get, "/.well-known/risc-configuration", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "Metadata with which Google finds the keys of security event tokens.",
            returns: [
                .body(
                    200, "The configuration.", RISCConfiguration.self,
                    example: [
                        "issuer": "https://accounts.example.com",
                        "jwks_uri": "https://accounts.example.com/oauth/jwks.json",
                    ])
            ])
    ) { family, _ in family.riscConfiguration() }

    static let getSSFConfiguration = Endpoint(
        "getSSFConfiguration", .get, "/.well-known/ssf-configuration", of: \.oauth?.streams, caller: .anyone,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth,
            "Metadata of the event streams of OAuth clients (OpenID Shared Signals Framework 1.0 §7.1).",
            text: "The path does not exist while no client has a stream.",
            returns: [
                .body(
                    200, "The configuration.", SSFConfiguration.self,
                    example: [
                        "spec_version": "1_0", "issuer": "https://accounts.example.com",
                        "jwks_uri": "https://accounts.example.com/oauth/jwks.json",
                        "delivery_methods_supported": ["urn:ietf:rfc:8935", "urn:ietf:rfc:8936"],
                        "configuration_endpoint": "https://accounts.example.com/oauth/events/stream",
                        "verification_endpoint": "https://accounts.example.com/oauth/events/verify",
                        "critical_subject_members": [],
                        "authorization_schemes": [["spec_urn": "urn:ietf:rfc:7617"]],
                        "default_subjects": "ALL",
                    ])
            ])
    ) { family, _ in family.configuration() }

    static let getAppSiteAssociation = Endpoint(
        "getAppSiteAssociation", .get, "/.well-known/apple-app-site-association", of: \.oauth?.documents,
        caller: .anyone, body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "The apps that open universal links of this host.",
            returns: [
                .body(
                    200, "The association file.", AppSiteLinks.self, example: ["applinks": ["details": []]])
            ])
    ) { family, _ in try family.appSiteAssociation() }

    static let getAssetLinks = Endpoint(
        "getAssetLinks", .get, "/.well-known/assetlinks.json", of: \.oauth?.documents, caller: .anyone,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "The Android apps that open links of this host (Digital Asset Links).",
            returns: [
                .body(
                    200, "The statements.", AssetLinks.schema,
                    example: [
                        [
                            "relation": ["delegate_permission/common.handle_all_urls"],
                            "target": [
                                "namespace": "android_app", "package_name": "com.example.app",
                                "sha256_cert_fingerprints": ["AA:BB"],
                            ],
                        ]
                    ])
            ])
    ) { family, _ in try family.assetLinks() }
}
