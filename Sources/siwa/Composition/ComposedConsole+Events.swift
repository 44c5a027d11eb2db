import AppleAccounts
import AppleIDClient
import Console
import EventDelivery
import HTTPAPI
import JOSE
import OAuth

extension ComposedConsole {
    /// The token inspector over the keys and the database of the running service.
    static func tokenInspector(_ parts: Parts) -> TokenInspector {
        let settings = parts.settings
        let files = SigningKeyFiles(
            Dictionary(uniqueKeysWithValues: settings.signingKeys.map { ($0.key.rawValue, $0.value) }))
        return TokenInspector(
            TokenInspector.Dependencies(
                deployment: settings.deployment, appleIssuers: settings.issuers, appleKeys: parts.keys,
                store: parts.store, roots: settings.appAttestRoots, oauth: parts.oauth?.server,
                eventIssuer: settings.eventIssuer, keys: parts.oauth?.keys ?? parts.deliveries?.ownKeys
            ) { team in
                let keys = files.keys(ofTeam: team.rawValue).compactMap { key in
                    key.verificationKey.map { (key.keyID, $0) }
                }
                return Dictionary(keys, uniquingKeysWith: { first, _ in first })
            })
    }

    static func events(_ parts: Parts, _ arrivals: ArrivalLog) -> EventPages.Dependencies {
        let settings = parts.settings
        let lastFailure: @Sendable (ReceiverName) -> DeliveryFailure?
        let wake: @Sendable () -> Void
        if let deliveries = parts.deliveries {
            (lastFailure, wake) = (deliveries.lastFailure, deliveries.wake)
        } else {
            (lastFailure, wake) = ({ _ in nil }, {})
        }
        let readers = { @Sendable [readers = parts.readers] in
            readers.all.map { reader in
                FeedReader(
                    name: reader.name, sequence: reader.sequence, behind: reader.behind,
                    askedAt: reader.askedAt)
            }
        }
        let store: any EventPages.Store = parts.store
        return EventPages.Dependencies(
            store: store, arrivals: arrivals, readers: readers, receivers: receivers(settings),
            lastFailure: lastFailure, wake: wake, hasGoogle: settings.tellsGoogle)
    }

    private static func receivers(_ settings: ServiceSettings) -> [EventPages.Receiver] {
        let webhooks = settings.webhooks.map { ($0.name, $0.audience == nil ? "webhook" : "security events") }
        let polled = settings.polledReceivers.map { ($0.name, "security events, polled with a key") }
        let streams = settings.clientStreams.map { stream in
            (stream.name, stream.push == nil ? "stream of a client, polled" : "stream of a client, pushed")
        }
        let google = settings.tellsGoogle ? [(ReceiverName.google, "reports of ended tokens")] : []
        return (webhooks + polled + streams + google).map { name, form in
            EventPages.Receiver(
                name: name, form: form, isVerifiable: settings.getsSecurityEvents(name))
        }
    }
}
