"""What neural models share: recurrent, convolutional and attention layers, the CRF, dropout, inputs and costs."""
