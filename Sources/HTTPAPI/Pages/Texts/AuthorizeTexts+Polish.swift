extension AuthorizeTexts {
    static let polish = AuthorizeTexts(
        consent: Consent(
            title: "{client} prosi o dostęp do Twojego konta",
            titleForGoogle: "Połącz swoje konto z Google",
            signedInAs: "Zalogowano jako",
            withoutName: "Twoje konto, bez imienia, nazwiska i adresu e-mail",
            useAnotherAccount: "Użyj innego konta",
            loginHint: "{client} proponuje konto {hint}.",
            purposeForGoogle:
                "Twoje konto zostanie połączone z Google, aby można było z niego korzystać w aplikacjach i na urządzeniach Google.",
            scopes: "Uprawnienia, które otrzyma {client}",
            optionalScopes: "Odznacz to, na co nie chcesz się zgodzić.",
            emailShared: "{client} otrzyma Twój adres e-mail {email}.",
            emailHidden:
                "Twój własny adres e-mail pozostanie ukryty. {client} otrzyma adres przekierowujący {email}.",
            emailUnknown: "{client} nie otrzyma adresu e-mail, bo żaden nie jest tu znany.",
            emailNotShared: "{client} nie otrzyma Twojego adresu e-mail.",
            googlePolicy: "{policy} opisuje, jak Google używa tych danych.",
            googlePolicyName: "Polityka prywatności Google",
            authorizationForGoogle:
                "Wybierając „{agree}”, upoważniasz Google do dostępu do Twojego konta i do sterowania tym, co do niego należy, w zakresie podanym powyżej.",
            unlinkFromGoogle:
                "Połączenie możesz w każdej chwili usunąć: w aplikacji albo na swoim koncie Google w sekcji {connections}.",
            googleConnectionsName: "Aplikacje i usługi innych firm",
            unlink:
                "Dostęp możesz w każdej chwili zakończyć: w aplikacji albo w ustawieniach konta Apple w sekcji „Zaloguj się z Apple”.",
            returnsTo: "Potem wrócisz do {target}.",
            agree: "Zgadzam się i łączę",
            cancel: "Anuluj"),
        refusals: Refusals(
            unknownClient: Refusal(
                title: "Ta aplikacja nie jest tu znana",
                reason: "Link wskazuje aplikację (client_id), która nie jest zarejestrowana w tej usłudze.",
                advice:
                    "Wróć do aplikacji i spróbuj ponownie. Jeśli jesteś jej programistą, porównaj client_id z konfiguracją tej usługi."
            ),
            redirectURIMismatch: Refusal(
                title: "Ten link prowadzi w niewłaściwe miejsce",
                reason:
                    "Link chce wrócić pod adres (redirect_uri), który nie jest zarejestrowany dla tej aplikacji.",
                advice:
                    "Dla bezpieczeństwa zostajesz tutaj. Jeśli jesteś programistą aplikacji, zarejestruj dokładnie ten adres, z tymi samymi literami, portem i ścieżką."
            ),
            requestMalformed: Refusal(
                title: "Ten link jest niekompletny",
                reason:
                    "Link musi podawać aplikację (client_id) i adres powrotu (redirect_uri), każde z nich dokładnie raz.",
                advice:
                    "Wróć do aplikacji i spróbuj ponownie. Jeśli jesteś jej programistą, sprawdź parametry linku."
            ),
            embeddedBrowser: Refusal(
                title: "Otwórz tę stronę w przeglądarce",
                reason:
                    "Ta strona jest wyświetlana wewnątrz innej aplikacji, która może odczytać to, co wpisujesz. Potrzebna jest Twoja przeglądarka, na przykład Safari lub Chrome.",
                advice:
                    "W menu tej aplikacji wybierz „Otwórz w przeglądarce” albo skopiuj ten adres do przeglądarki:"
            ),
            formRefused: Refusal(
                title: "Tego formularza nie można już użyć",
                reason: "Należy do innego logowania lub innej prośby albo został zmieniony.",
                advice: "Nic nie zostało udostępnione. Zacznij od nowa, aby zobaczyć, o co prosi aplikacja."),
            signInNeeded: Refusal(
                title: "Zaloguj się ponownie",
                reason: "Twoje logowanie wygasło albo zostało wycofane w Apple.",
                advice: "Nic nie zostało udostępnione. Zaloguj się ponownie z Apple, aby kontynuować.")
        ),
        errorCode: "Kod błędu: {code}",
        startAgain: "Zacznij od nowa")
}
