package service_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"datastream/service"
)

// certificate makes a self-signed one for 127.0.0.1 and returns the files of
// it and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestTLS: --tlsca, --tlscert and --tlskey against a server that asks for
// them, and --inbox-prefix.
func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	config, err := natsd.GenTLSConfig(&natsd.TLSConfigOpts{CertFile: cert, KeyFile: key, CaFile: cert, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := natsd.NewServer(&natsd.Options{Host: "127.0.0.1", Port: natsd.RANDOM_PORT, NoSigs: true, NoLog: true, TLSConfig: config, TLSVerify: true, TLSTimeout: patience.Seconds()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	o := service.Options{Name: "ds", Log: zerolog.Nop()}
	c, err := service.Connect(t.Context(), service.NATS{URL: s.ClientURL(), CA: cert, Cert: cert, Key: key, InboxPrefix: "_INBOX.alice"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.TLSConnectionState(); err != nil {
		t.Errorf("the connection is in the clear: %v", err)
	}
	if inbox := c.NewInbox(); !strings.HasPrefix(inbox, "_INBOX.alice.") {
		t.Errorf("answers go to %s", inbox)
	}
	c.Close()
	if _, err := service.Connect(t.Context(), service.NATS{URL: s.ClientURL()}, o); !errors.Is(err, service.ErrUnreachable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a server whose authority is unknown: %v", err)
	}
}
